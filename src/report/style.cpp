#include "report/style.hpp"

namespace lockstep::report {

std::string_view page_style() {
  return R"(:root { --text: #1f2328; --soft: #59636e; --line: #d8dce1; --paper: #ffffff; --card: #f6f8fa; --accent: #4269b0;
  --bound: #b42318; color-scheme: light dark; }
@media screen and (prefers-color-scheme: dark) {
  :root { --text: #e6e6e6; --soft: #a3aab8; --line: #3a3f45; --paper: #15181c; --card: #1d2126; --accent: #7aa2e3;
    --bound: #ff8f7d; }
}
body { margin: 0 auto; max-width: 1280px; padding: 16px 24px 48px; background: var(--paper); color: var(--text);
  font: 15px/1.45 system-ui, sans-serif; }
h1 { font-size: 24px; margin: 0 0 4px; } h2 { font-size: 20px; margin: 28px 0 8px; border-bottom: 1px solid var(--line); }
h3 { font-size: 16px; margin: 18px 0 6px; } p { margin: 4px 0 8px; max-width: 90ch; } .soft { color: var(--soft); }
a { color: var(--accent); }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { padding: 3px 10px 3px 0; text-align: left; vertical-align: top; border-bottom: 1px solid var(--line); }
th { color: var(--soft); font-weight: 600; } th[title] { text-decoration: underline dotted; cursor: help; }
.sortable th { cursor: pointer; } .n { text-align: right; white-space: nowrap; }
.wide { overflow-x: auto; } code, .code { font-family: ui-monospace, monospace; font-size: 13px; white-space: nowrap; }
.bar { display: inline-block; width: 64px; height: 9px; margin-right: 8px; background: var(--line); text-align: left; }
.bar i { display: block; height: 100%; background: var(--accent); }
.verdict { background: var(--card); border-left: 5px solid var(--bound); padding: 10px 14px; margin: 8px 0; }
td a, td .bound { white-space: nowrap; }
.verdict b { color: var(--bound); font-size: 17px; } .bound { color: var(--bound); font-weight: 600; }
.flow { display: flex; flex-wrap: wrap; align-items: stretch; gap: 0; margin: 6px 0; }
.level { background: var(--card); border: 1px solid var(--line); padding: 8px 12px; min-width: 130px; }
.level b { display: block; } .level span { display: block; white-space: nowrap; }
.pipe { display: flex; flex-direction: column; justify-content: center; padding: 0 10px; text-align: center; color: var(--soft); }
.two { display: grid; grid-template-columns: repeat(auto-fit, minmax(420px, 1fr)); gap: 8px 28px; }
.two > * { min-width: 0; }
svg.plot { max-width: 100%; height: auto; }
details { margin: 8px 0; } summary { cursor: pointer; font-weight: 600; font-size: 16px; }
@media print { body { max-width: none; padding: 0; font-size: 12px; } .verdict, svg.plot, .flow, tr { break-inside: avoid; }
  .bar, .bar i, .verdict { print-color-adjust: exact; } }
)";
}

std::string_view page_script() {
  return R"(for (const table of document.querySelectorAll('table.sortable')) {
  table.querySelectorAll('th').forEach((head, column) => head.addEventListener('click', () => {
    const body = table.tBodies[0], down = head.dataset.down !== '1';
    table.querySelectorAll('th').forEach(h => delete h.dataset.down);
    if (down) head.dataset.down = '1';
    const key = row => { const c = row.cells[column]; return c.dataset.v !== undefined ? Number(c.dataset.v) : c.textContent; };
    const order = (a, b) => typeof a === 'number' && typeof b === 'number' ? a - b : String(a).localeCompare(String(b));
    [...body.rows].sort((a, b) => (down ? -1 : 1) * order(key(a), key(b))).forEach(row => body.append(row));
  }));
}
addEventListener('beforeprint', () => document.querySelectorAll('details').forEach(d => { d.open = true; }));
)";
}

}  // namespace lockstep::report
