"""How a page of errors looks: on a wide or a narrow screen, light or dark, and on paper.

How bad an error is shows in the line under it, in its tag and in words, and only then in colour.
"""

STYLE = """
:root {
  color-scheme: light dark;
  --paper: #ffffff; --ink: #1b1b1f; --soft: #55555f; --line: #c9c9d1; --panel: #f5f5f8;
  --link: #0b4f9c;
  --major: #a1121f; --major-wash: #fde3e4;
  --moderate: #8a4300; --moderate-wash: #fdebd3;
  --minor: #14539a; --minor-wash: #e2edfb;
  --ungraded: #4a4a55; --ungraded-wash: #ececf1;
}
@media (prefers-color-scheme: dark) {
  :root {
    --paper: #17171b; --ink: #ececf1; --soft: #b4b4c0; --line: #45454f; --panel: #212127;
    --link: #8fc1ff;
    --major: #ff9aa0; --major-wash: #4d1a20;
    --moderate: #ffc078; --moderate-wash: #46300f;
    --minor: #9ccbff; --minor-wash: #16304f;
    --ungraded: #c6c6d0; --ungraded-wash: #33333c;
  }
}
* { box-sizing: border-box; }
body {
  margin: 0 auto; padding: 1.5rem 1rem 4rem; max-width: 50rem;
  background: var(--paper); color: var(--ink);
  font: 1rem/1.6 system-ui, -apple-system, "Segoe UI", "Noto Sans", sans-serif;
}
h1 { font-size: 1.5rem; line-height: 1.3; margin: 0 0 .5rem; overflow-wrap: anywhere; }
h2 { font-size: 1.1rem; line-height: 1.4; margin: 0; overflow-wrap: anywhere; }
p { margin: .5rem 0; }
a { color: var(--link); }
a:focus-visible, summary:focus-visible {
  outline: 3px solid var(--link); outline-offset: 2px; border-radius: 2px;
}
.soft { color: var(--soft); }
.facts { display: flex; flex-wrap: wrap; gap: .25rem 1.5rem; margin: .75rem 0; padding: 0; }
.facts li { list-style: none; }
article { border-top: 1px solid var(--line); margin-top: 2rem; padding-top: 1.25rem; }
.text {
  white-space: pre-wrap; overflow-wrap: anywhere; font-size: 1.05rem; line-height: 2;
  background: var(--panel); border-radius: .5rem; padding: .75rem 1rem; margin: .75rem 0;
}
mark {
  color: inherit; padding: .1em 0; text-underline-offset: .25em; text-decoration-thickness: 2px;
  text-decoration-line: underline; text-decoration-skip-ink: none;
}
mark.major {
  background: var(--major-wash); text-decoration-style: double; text-decoration-color: var(--major);
}
mark.moderate {
  background: var(--moderate-wash); text-decoration-style: dashed;
  text-decoration-color: var(--moderate);
}
mark.minor {
  background: var(--minor-wash); text-decoration-style: dotted;
  text-decoration-color: var(--minor);
}
mark.ungraded {
  background: var(--ungraded-wash); text-decoration-style: solid;
  text-decoration-color: var(--ungraded);
}
.n {
  font-size: .75rem; font-weight: 700; vertical-align: super; line-height: 1; padding: 0 .15em;
  text-decoration: none; unicode-bidi: isolate;
}
.n.major { color: var(--major); } .n.moderate { color: var(--moderate); }
.n.minor { color: var(--minor); } .n.ungraded { color: var(--ungraded); }
.gap { color: var(--soft); font-style: italic; }
.errors { margin: 0; padding: 0; }
.errors > li {
  list-style: none; border-left: 4px solid var(--line); padding: .1rem 0 .1rem .75rem;
  margin: .75rem 0; overflow-wrap: anywhere;
}
.errors > li.major { border-left: 6px double var(--major); }
.errors > li.moderate { border-left-style: dashed; border-left-color: var(--moderate); }
.errors > li.minor { border-left-style: dotted; border-left-color: var(--minor); }
.errors > li:target, .n:target { outline: 3px solid var(--link); outline-offset: 2px; }
.errors p { margin: .15rem 0; white-space: pre-wrap; }
.tag {
  display: inline-block; font-size: .85rem; font-weight: 600; border: 1px solid currentColor;
  border-radius: .35rem; padding: 0 .45em; margin: 0 .35em;
}
.tag.major { color: var(--major); } .tag.moderate { color: var(--moderate); }
.tag.minor { color: var(--minor); } .tag.ungraded { color: var(--ungraded); }
details { margin: .5rem 0; }
summary { cursor: pointer; color: var(--link); }
details .text { font-size: .95rem; line-height: 1.6; }
@media print {
  :root {
    --paper: #ffffff; --ink: #000000; --soft: #333333; --line: #888888; --panel: #ffffff;
    --link: #000000; --major: #000000; --moderate: #000000; --minor: #000000;
    --ungraded: #000000; --major-wash: #ffffff; --moderate-wash: #ffffff;
    --minor-wash: #ffffff; --ungraded-wash: #ffffff;
  }
  body { max-width: none; padding: 0; font-size: 10.5pt; }
  .text { border: 1px solid var(--line); break-inside: avoid; }
  h2 { break-after: avoid; }
  .errors > li { break-inside: avoid; }
}
"""
