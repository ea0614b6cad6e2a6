//! Shells of databases with real servers behind them: what they show while a statement is open, in transactions, for rows,
//! in pagers, and while they only listen.

use dtmcp_tests::client::{Client, World};
use dtmcp_tests::databases::Database;
use serde_json::json;

use super::interpreters::talk;
use super::{Row, Tested, holds, same};

pub(crate) const ROWS: &[Row] = &[
    ("psql", &["tmux", "bash", "psql", "postgres", "initdb"], psql),
    ("psql_pages_and_hides", &["tmux", "bash", "psql", "postgres", "initdb", "less"], psql_pages),
    ("redis", &["tmux", "bash", "redis-cli", "redis-server"], redis),
    ("mariadb", &["tmux", "bash", "mariadb", "mariadbd", "mariadb-install-db"], mariadb),
];

/// A session with the shell of a database open in it.
fn open(world: &World, line: &str, prompt: &str) -> Result<Client, String> {
    let mut client = world.client()?;
    client.call("session_create", json!({}))?;
    let open = client.call("run", json!({ "line": line, "timeout": 60 }))?;
    same!((open.status(), &open.meta["prompt"]), ("prompt", &json!(prompt)), "{}", open.text);
    Ok(client)
}

fn psql() -> Tested {
    let database = Database::postgres()?;
    let world = World::new()?;
    let mut client = open(&world, &format!("psql -h {} -U postgres", database.dir()), "postgres=# ")?;
    talk(
        &mut client,
        &[
            ("select 1,", "continuation", "postgres-# ", ""),
            ("(2", "continuation", "postgres(# ", ""),
            ("+3);", "prompt", "postgres=# ", "(1 row)"),
            ("select 'a", "continuation", "postgres'# ", ""),
            ("b';", "prompt", "postgres=# ", "(1 row)"),
            ("create table t(a int, b text);", "prompt", "postgres=# ", "CREATE TABLE"),
            ("begin;", "prompt", "postgres=*# ", "BEGIN"),
            ("select", "continuation", "postgres-*# ", ""),
            ("1;", "prompt", "postgres=*# ", "(1 row)"),
            ("nosuch;", "prompt", "postgres=!# ", "^"),
            ("select '", "continuation", "postgres'!# ", ""),
            ("';", "prompt", "postgres=!# ", "end of transaction block"),
            ("rollback;", "prompt", "postgres=# ", "ROLLBACK"),
            ("\\if false", "continuation", "postgres@# ", ""),
            ("\\endif", "prompt", "postgres=# ", ""),
            ("copy t from stdin;", "continuation", ">> ", ""),
            ("1\tone\n2\ttwo\n\\.", "prompt", "postgres=# ", "COPY 2"),
            // Longer than silence would take for an end.
            ("select pg_sleep(1.5);\nselect b from t where a = 2;", "prompt", "postgres=# ", "two\n(1 row)"),
            ("\\! echo out", "prompt", "postgres=# ", "out"),
            ("\\q", "finished", "", ""),
        ],
    )
}

fn psql_pages() -> Tested {
    let database = Database::postgres()?;
    let world = World::new()?;
    let mut client = open(&world, &format!("PAGER=less psql -h {} -U postgres", database.dir()), "postgres=# ")?;
    talk(&mut client, &[("select * from generate_series(1, 200);", "screen", "", "")])?;
    let refused = client.run("select 1;")?;
    holds!(refused.is_error && refused.text.contains("nothing was typed"), "{}", refused.text);
    let left = client.call("send", json!({ "keys": ["q"] }))?;
    same!(left.meta["prompt"], json!("postgres=# "), "{}", left.text);
    talk(&mut client, &[("\\pset pager off", "prompt", "postgres=# ", "Pager usage is off.")])?;
    talk(&mut client, &[("select * from generate_series(1, 200);", "prompt", "postgres=# ", "(200 rows)")])?;
    let hidden = client.run("\\password")?;
    same!((hidden.status(), &hidden.meta["hidden"]), ("waiting", &json!(true)), "{}", hidden.text);
    client.call("send", json!({ "keys": ["ctrl+c"] }))?;
    let up = client.call("wait", json!({ "timeout": 60 }))?;
    same!(up.meta["prompt"], json!("postgres=# "), "{}", up.text);
    let watched = client.call("run", json!({ "line": "select 6*7;\n\\watch 1", "timeout": 3 }))?;
    same!(watched.status(), "running", "{}", watched.text);
    client.call("send", json!({ "keys": ["ctrl+c"] }))?;
    let up = client.call("wait", json!({ "timeout": 60 }))?;
    same!(up.meta["prompt"], json!("postgres=# "), "{}", up.text);
    same!(client.run("\\q")?.exit(), Some(0), "the end");
    Ok(())
}

fn redis() -> Tested {
    let database = Database::redis()?;
    let world = World::new()?;
    let socket = database.socket();
    let (prompt, inside) = (format!("redis {socket}> "), format!("redis {socket}(TX)> "));
    let mut client = open(&world, &format!("redis-cli -s {socket}"), &prompt)?;
    for (line, prompt, output) in [
        ("set a 1", &prompt, "OK"),
        ("multi", &inside, "OK"),
        ("incr a", &inside, "QUEUED"),
        ("exec", &prompt, "1) (integer) 2"),
        ("nosuch", &prompt, "with args beginning with:"),
        ("get a\nincr a", &prompt, "(integer) 3"),
        ("blpop nosuch 2", &prompt, "s)"),
    ] {
        let reply = client.run(line)?;
        same!((reply.status(), &reply.meta["prompt"]), ("prompt", &json!(prompt)), "{line}: {}", reply.text);
        holds!(reply.output().trim_end().ends_with(output), "{line}: {}", reply.text);
    }
    // It listens until it is interrupted, and is at work meanwhile.
    for line in ["subscribe news", "monitor"] {
        let listens = client.call("run", json!({ "line": line, "timeout": 3 }))?;
        same!(listens.status(), "running", "{}", listens.text);
        client.call("send", json!({ "keys": ["ctrl+c"] }))?;
        let up = client.call("wait", json!({ "timeout": 60 }))?;
        same!(up.meta["prompt"], json!(prompt), "{}", up.text);
    }
    same!(client.run("quit")?.exit(), Some(0), "the end");
    Ok(())
}

fn mariadb() -> Tested {
    let database = Database::mariadb()?;
    let world = World::new()?;
    let line = format!("mariadb --no-defaults -u root -S {}", database.socket());
    let mut client = open(&world, &line, "MariaDB [(none)]> ")?;
    talk(
        &mut client,
        &[
            ("select 1,", "continuation", "    -> ", ""),
            ("2;", "prompt", "MariaDB [(none)]> ", "sec)"),
            ("select 'a", "continuation", "    '> ", ""),
            ("b';", "prompt", "MariaDB [(none)]> ", "sec)"),
            ("/* not yet", "continuation", "   /*> ", ""),
            ("*/ select 3;", "prompt", "MariaDB [(none)]> ", "sec)"),
            ("create database d;\nuse d", "prompt", "MariaDB [d]> ", "Database changed"),
            ("nosuch;", "prompt", "MariaDB [d]> ", "at line 1"),
            ("select sleep(1.5);", "prompt", "MariaDB [d]> ", "sec)"),
            ("delimiter //\nselect 4; select 5;\n//\ndelimiter ;", "prompt", "MariaDB [d]> ", ""),
            ("select", "continuation", "    -> ", ""),
            ("\\c", "prompt", "MariaDB [d]> ", ""),
            ("quit", "finished", "", "Bye"),
        ],
    )
}
