"""The look of the report page: a few rules for screen, dark screen, telephone and paper."""

CSS = """
:root { color-scheme: light dark; --page: #fbfaf8; --ink: #22262b; --pale: #5a626c; --line: #dfe2e6;
  --accent: #0064ad; --soft: #f1f1ee; --sheet: #ffffff; --shadow: rgb(20 30 40 / .2) }
@media (prefers-color-scheme: dark) {
  :root { --page: #16191d; --ink: #e6e8ea; --pale: #a3abb5; --line: #343a42; --accent: #7cbcf0; --soft: #20252b;
    --sheet: #f4f5f6; --shadow: rgb(0 0 0 / .6) } }
* { box-sizing: border-box }
html { -webkit-text-size-adjust: 100%; text-size-adjust: 100% }
body { margin: 0 auto; max-width: 53rem; padding: clamp(1.25rem, 4vw, 3.5rem) clamp(1rem, 4vw, 2.5rem);
  background: var(--page); color: var(--ink); font: 1rem/1.6 system-ui, sans-serif; overflow-wrap: break-word }
h1 { font-size: clamp(1.7rem, 1.3rem + 1.8vw, 2.5rem); line-height: 1.15; letter-spacing: -.015em; margin: 0 0 .6rem }
h2 { font-size: 1.3rem; line-height: 1.3; margin: 3rem 0 .6rem; padding-top: 1.1rem; border-top: 1px solid var(--line) }
p, figcaption, .lead { max-width: 44rem }
p { margin: 0 0 .9rem }
.lead { font-size: 1.15rem; color: var(--pale) }
a { color: var(--accent); text-underline-offset: .2em }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px }
nav ol { display: flex; flex-wrap: wrap; gap: .3rem 1.4rem; list-style: none; margin: 1.2rem 0 0; padding: 0 }
figure { margin: 1.2rem 0 1.8rem }
figcaption, caption { color: var(--pale); font-size: .9rem; line-height: 1.5; text-align: left }
figcaption { margin-top: .5rem }
caption { padding-bottom: .5rem; caption-side: top }
/* A shadow at each edge behind which there is more: the first two layers move with the content and cover it. */
.wide { --under: var(--page); overflow-x: auto; background-color: var(--under);
  background-image: linear-gradient(to right, var(--under) 40%, transparent),
    linear-gradient(to left, var(--under) 40%, transparent),
    linear-gradient(to right, var(--shadow), transparent), linear-gradient(to left, var(--shadow), transparent);
  background-position: left, right, left, right; background-size: 2.4rem 100%, 2.4rem 100%, .7rem 100%, .7rem 100%;
  background-repeat: no-repeat; background-attachment: local, local, scroll, scroll }
.sheet { --under: var(--sheet); width: fit-content; max-width: 100%;
  border: 1px solid var(--line); border-radius: .6rem; padding: clamp(.5rem, 1.5vw, 1rem) }
.sheet img { display: block; height: auto; max-width: 100%; mix-blend-mode: multiply }
table { border-collapse: collapse; min-width: min(18rem, 100%); font-size: .95rem; font-variant-numeric: tabular-nums }
th, td { padding: .38rem .9rem .38rem 0; text-align: left; vertical-align: top; border-bottom: 1px solid var(--line) }
th + th, td { padding-left: .6rem }
thead th { color: var(--pale); font-size: .85rem; font-weight: 600; vertical-align: bottom }
tbody th { font-weight: 500; position: sticky; left: 0; background: var(--page); min-width: 6rem }
.number { text-align: right; white-space: nowrap }
dl.key { display: grid; grid-template-columns: repeat(auto-fit, minmax(8.5rem, 1fr)); gap: .8rem;
  margin: 1.4rem 0 1.8rem }
dl.key div { background: var(--soft); border-radius: .6rem; padding: .8rem 1rem;
  display: flex; flex-direction: column-reverse; justify-content: flex-end }
dl.key dt { color: var(--pale); font-size: .9rem; line-height: 1.35 }
dl.key dd { margin: 0; font-size: 1.7rem; line-height: 1.25; font-weight: 600; font-variant-numeric: tabular-nums }
pre { background: var(--soft); border-radius: .6rem; padding: .9rem 1rem;
  white-space: pre-wrap; overflow-wrap: anywhere; font: .9rem/1.55 ui-monospace, monospace }
audio { display: block; width: 100%; max-width: 32rem }
footer { margin-top: 3.5rem; padding-top: 1rem; border-top: 1px solid var(--line);
  color: var(--pale); font-size: .9rem }
@media print {
  :root { color-scheme: light; --page: #fff; --ink: #000; --pale: #444; --line: #bbb; --accent: #000; --soft: #f3f3f3;
    --sheet: #fff }
  body { max-width: none; padding: 0; font-size: 10.5pt }
  nav, figure.sound { display: none }
  h2, h2 ~ p { break-after: avoid } figure, tr, dl.key div { break-inside: avoid }
  .wide { overflow: visible; background: none } .sheet { border: 0; padding: 0 } .sheet img { min-width: 0 !important }
}
"""
