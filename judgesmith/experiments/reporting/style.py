"""How a report looks, beyond what every page shares: tables, figures and the explorer."""

from judgesmith.experiments.errors_style import STYLE as SHARED

STYLE = (
    SHARED
    + """
body { max-width: 72rem; }
h2 { font-size: 1.35rem; margin: 2.5rem 0 .5rem; }
h3 { font-size: 1.1rem; margin: 1.75rem 0 .5rem; overflow-wrap: anywhere; }
h4 { font-size: 1rem; margin: 1.25rem 0 .25rem; }
.skip { position: absolute; left: -99rem; }
.skip:focus { left: 1rem; top: .5rem; background: var(--paper); padding: .5rem; z-index: 1; }
nav ul { display: flex; flex-wrap: wrap; gap: .25rem 1.25rem; margin: .5rem 0; padding: 0; }
nav li { list-style: none; }
.scroll { overflow-x: auto; margin: .5rem 0; }
.scroll:focus-visible, button:focus-visible, input:focus-visible, select:focus-visible {
  outline: 3px solid var(--link); outline-offset: 2px;
}
table { border-collapse: collapse; font-size: .92rem; line-height: 1.4; min-width: 20rem; }
caption { text-align: left; font-weight: 600; padding: .25rem 0; }
th, td { padding: .3rem .6rem; text-align: left; vertical-align: top; }
thead th, thead td { border-bottom: 2px solid var(--line); vertical-align: bottom; }
tbody tr { border-bottom: 1px solid var(--line); }
td.num, th.num { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
thead th.num { white-space: normal; }
th[scope=row] { font-weight: 600; overflow-wrap: break-word; }
#rows th[scope=row], .warnings, .asks { overflow-wrap: anywhere; }
.warnings li { margin: .35rem 0; overflow-wrap: anywhere; }
.warnings { border-left: 4px solid var(--moderate); padding: .25rem 0 .25rem 1.75rem; }
.side { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(20rem, 100%), 1fr));
  gap: 1rem 2rem; align-items: start; }
figure { margin: .5rem 0; }
figure svg { width: 100%; max-width: 33rem; height: auto; display: block; }
figure svg * { stroke-linejoin: round; stroke-linecap: butt; }
figcaption { color: var(--soft); font-size: .9rem; }
.bar { position: relative; width: 9rem; height: .8rem; background: var(--panel);
  border: 1px solid var(--line); display: inline-block; vertical-align: middle; }
.bar i { position: absolute; top: 0; bottom: 0; background: var(--link); }
.bar b { position: absolute; top: -.15rem; bottom: -.15rem; width: 1px; background: var(--ink); }
.confusion td { text-align: center; font-variant-numeric: tabular-nums; min-width: 3.5rem; }
.asks li { overflow-wrap: anywhere; margin: .2rem 0; }
form { display: flex; flex-wrap: wrap; gap: .5rem 1.25rem; align-items: end; margin: .75rem 0; }
form[hidden] { display: none; }
label { display: grid; grid-template-columns: minmax(0, 1fr); font-size: .9rem; max-width: 100%; }
select, input { font: inherit; padding: .3rem; max-width: 100%; color: var(--ink);
  background: var(--paper); border: 1px solid var(--soft); border-radius: .3rem; }
th button { font: inherit; color: var(--link); background: none; border: 0; padding: .2rem 0;
  cursor: pointer; text-decoration: underline; }
th[aria-sort=ascending] button::after { content: " \\2191"; }
th[aria-sort=descending] button::after { content: " \\2193"; }
#rows { width: 100%; }
#rows tbody { border-bottom: 1px solid var(--line); }
#rows tbody tr { border: 0; }
#rows .text { font-size: .95rem; line-height: 1.6; }
#rows dl { margin: .25rem 0; } #rows dt { font-weight: 600; }
#rows dd { margin: 0 0 .35rem 1rem; overflow-wrap: anywhere; }
tbody[hidden] { display: none; }
@media (max-width: 40rem) {
  body { padding: 1rem .75rem 3rem; }
  th, td { padding: .25rem .3rem; }
  table { font-size: .85rem; }
  .bar { width: 6rem; }
}
@media print {
  form, nav, .skip { display: none; }
  .scroll { overflow: visible; }
  .side { display: block; }
  table { font-size: 8.5pt; }
  thead { display: table-header-group; }
  tr, figure { break-inside: avoid; }
  h3, h4 { break-after: avoid; }
  .bar i { background: #555555; print-color-adjust: exact; }
}
"""
)
