"""DuckDB adds up the collector's tables as the collector does, with the SQL of docs/collector.md.

`cargo xtask test --only collector-sql` installs DuckDB, starts a collector with the profiles of fixtures/shop, and sets
SELFPROF_COLLECTOR_PROGRAM to the program, SELFPROF_COLLECTOR to the URL, and SELFPROF_DATA to the folder, which has the
name that it has in that page.
"""

import json
import os
import re
import subprocess
import time
import unittest
import urllib.request
from pathlib import Path

import duckdb

PAGE = Path(__file__).parents[3] / "docs/collector.md"

# Garbage collection with and without a stack, layout, and an idle thread, of every second visit.
MARKED = {
    "app": "marked",
    "release": "1.4",
    "page": "/",
    "rate": 0.5,
    "trace": {
        "resources": ["https://a.example/a.js"],
        "frames": [{"name": "f", "resourceId": 0, "line": 1, "column": 1}, {"name": ""}],
        "stacks": [{"frameId": 0}, {"frameId": 1, "parentId": 0}, {"frameId": 0, "parentId": 1}],
        "samples": [
            {"timestamp": 10, "stackId": 0},
            {"timestamp": 20.25, "stackId": 2},
            {"timestamp": 30, "stackId": 0, "marker": "gc"},
            {"timestamp": 40, "marker": "gc"},
            {"timestamp": 50, "marker": "layout"},
            {"timestamp": 60, "stackId": 1, "marker": "script"},
            {"timestamp": 70},
        ],
    },
}


def statements():
    """The SQL of the page, by the comment in its first line."""
    return dict(re.findall(r"```sql\n-- (.*?)\n(.*?)```", PAGE.read_text(), re.DOTALL))


def make_views():
    """Runs the page's lines of Python."""
    code = re.search(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL).group(1)
    exec(code, {})


def of_collector(app):
    program = os.environ["SELFPROF_COLLECTOR_PROGRAM"]
    query = [program, "query", "functions", "--app", app, "--where", "release = '1.4'", "--top", "100000", "--json"]
    return json.loads(subprocess.run(query, check=True, capture_output=True, text=True).stdout)


def of_duckdb(sql, app):
    assert "'shop'" in sql
    rows = DATABASE.sql(sql.replace("'shop'", f"'{app}'")).fetchall()
    return {(name, resource or None, line, column): tuple(sums) for name, resource, line, column, *sums in rows}


def times(answer, kind):
    return {
        (row["name"], row["resource"], row["line"], row["column"]): (row[f"{kind}Time"], row[f"{kind}Samples"])
        for row in answer["functions"]
        if row[f"{kind}Samples"] > 0
    }


class WithDuckdb(unittest.TestCase):
    maxDiff = None

    def check(self, app):
        """Sums are equal to the last bit."""
        answer = of_collector(app)
        self.assertGreater(answer["profiles"], 0)
        self.assertEqual(of_duckdb(STATEMENTS["functions by self time"], app), times(answer, "self"))
        expected = times(answer, "total")
        # The page says that this statement has no row for it.
        expected.pop(("(garbage collector)", None, None, None), None)
        self.assertEqual(of_duckdb(STATEMENTS["functions by total time"], app), expected)
        return answer

    def test_functions_of_a_release(self):
        answer = self.check("shop")
        self.assertGreater(len(answer["functions"]), 50)

    def test_markers_and_rates(self):
        url = f"{os.environ['SELFPROF_COLLECTOR']}/v1/profiles"
        urllib.request.urlopen(urllib.request.Request(url, data=json.dumps(MARKED).encode())).close()
        until = time.monotonic() + 60
        while of_collector("marked")["profiles"] == 0:
            self.assertLess(time.monotonic(), until, "the profile does not get into the tables")
            time.sleep(0.2)
        # The views read the files that were there when they were made.
        make_views()
        answer = self.check("marked")
        names = sorted(row["name"] for row in answer["functions"])
        self.assertEqual(names, ["", "(garbage collector)", "f"])

    def test_the_other_statements_of_the_page(self):
        measures = DATABASE.sql(STATEMENTS["measures"]).fetchall()
        self.assertEqual({name for name, *_ in measures}, {"search", "add to cart", "checkout"})
        pages = DATABASE.sql(STATEMENTS["profiles by page"]).fetchall()
        self.assertEqual({page for page, *_ in pages}, {"/", "/product", "/cart", "/checkout"})


STATEMENTS = statements()
DATABASE = duckdb
os.chdir(Path(os.environ["SELFPROF_DATA"]).parent)
make_views()

if __name__ == "__main__":
    unittest.main()
