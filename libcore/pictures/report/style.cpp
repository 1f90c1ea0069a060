// Colours are variables with a value for light and dark screens; those of limiters keep their hue in both. On narrow
// screens the rows of the wide tables become blocks: name and time, then the drawing, then the rest with its labels.
#include "pictures/report/style.hpp"

namespace kernelcast::report {

std::string_view const style = R"css(:root{color-scheme:light dark;
--bg:#fbfbfa;--card:#fff;--fg:#1c2024;--muted:#626a72;--grid:#e3e5e8;--edge:#d9dcdf;--accent:#0b62a4;--soft:#eef3f8;
--issue:#0072b2;--math:#4f5bd5;--cache:#b8860b;--dram:#d55e00;--shared:#00845f;--latency:#8a5a97;--launch:#7a7f85;--other:#9aa0a6}
@media (prefers-color-scheme:dark){:root{
--bg:#14171a;--card:#1c2024;--fg:#e6e8ea;--muted:#9aa3ab;--grid:#30363c;--edge:#343a40;--accent:#6cb6f5;--soft:#222a32;
--issue:#4ba3e3;--math:#8e97ff;--cache:#e0b13c;--dram:#f58a4b;--shared:#3cc29a;--latency:#c79bd4;--launch:#a3a9af;--other:#7d848b}}
*{box-sizing:border-box}
body{margin:0 auto;max-width:76rem;padding:1.5rem 1.25rem 4rem;background:var(--bg);color:var(--fg);
font:15px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",Arial,sans-serif}
header .suite{margin:0;color:var(--muted);font-size:.8rem;letter-spacing:.06em;text-transform:uppercase}
h1{margin:.1rem 0 1.25rem;font-size:1.75rem;line-height:1.2}
h2{margin:0 0 .5rem;font-size:1.15rem}
section{margin:0 0 1.25rem;padding:1.1rem 1.25rem 1.25rem;background:var(--card);border:1px solid var(--edge);border-radius:10px}
h1,.name,.answer,summary,code,dd,li{overflow-wrap:anywhere}
section>h2+p.lead{margin-top:-.25rem}
p{margin:.4rem 0}
.lead,.note,.muted,small{color:var(--muted)}
.lead,.note{font-size:.88rem;max-width:60rem}
#answer{border-left:4px solid var(--accent)}
#answer h2{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)}
.answer{font-size:1.2rem;line-height:1.4;max-width:56rem}
.answer2{max-width:56rem}
code{font:.85em ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;color:var(--muted)}
.tiles{display:grid;grid-template-columns:repeat(auto-fit,minmax(10.5rem,1fr));gap:.6rem;margin:1rem 0 0}
.tile{padding:.6rem .8rem;background:var(--soft);border-radius:8px}
.tile dt{color:var(--muted);font-size:.78rem}
.tile dd{margin:0}
.tile b{display:block;font-size:1.15rem;font-weight:600}
.tile dd>span{font-size:.82rem;color:var(--muted)}
table{width:100%;border-collapse:collapse;font-size:.9rem;font-variant-numeric:tabular-nums}
caption{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)}
th{font-weight:500;text-align:left}
thead th{color:var(--muted);font-size:.78rem;vertical-align:bottom;white-space:nowrap}
td,th{padding:.28rem .5rem;vertical-align:middle}
tbody tr{border-top:1px solid var(--grid)}
tbody tr:hover{background:var(--soft)}
.num,.time{text-align:right;white-space:nowrap}
.left{text-align:left}
.more,.rank{white-space:nowrap}
.kernels .device{min-width:11rem}
.time{font-weight:600}
.rank{color:var(--muted);text-align:right;width:2rem}
.ranking .device{min-width:12.5rem}
.ranking thead .num{white-space:normal;max-width:7.5rem}
.best .device{font-weight:700}
.open{color:var(--muted)}
small{display:block;font-size:.78rem}
.chip{white-space:nowrap}
.chip::before,.key{content:"";display:inline-block;width:.65em;height:.65em;margin-right:.4em;border-radius:2px;background:var(--c)}
.l-issue{--c:var(--issue)}.l-math{--c:var(--math)}.l-cache{--c:var(--cache)}.l-dram{--c:var(--dram)}
.l-shared{--c:var(--shared)}.l-latency{--c:var(--latency)}.l-launch{--c:var(--launch)}.l-other{--c:var(--other)}
.k0{--c:var(--issue)}.k1{--c:var(--dram)}.k2{--c:var(--shared)}.k3{--c:var(--latency)}.k4{--c:var(--cache)}.k5{--c:var(--math)}.k6{--c:var(--launch)}
svg{display:block;overflow:visible}
.plot{width:27%;min-width:9rem;padding-top:0;padding-bottom:0}
.plot circle{fill:var(--c);stroke:var(--card);stroke-width:1.5}
.plot .range{fill:var(--c);opacity:.28}
.schedule .plot{width:auto}
.schedule .device{width:11rem}
.schedule rect{fill:var(--c);stroke:var(--card);stroke-width:1}
.axis text{fill:var(--muted);font-size:11px}
.bar{width:26%;min-width:5rem}
.bar span{display:block;height:.7rem;border-radius:2px;background:var(--c)}
.whole{display:flex;height:1.6rem;margin:.6rem 0 .8rem;border-radius:5px;overflow:hidden;gap:2px}
.whole span{background:var(--c);color:#fff;font-size:.78rem;line-height:1.6rem;text-align:center;min-width:2px}
.parts{display:grid;grid-template-columns:6.4rem minmax(4rem,1fr) 3rem;gap:0 .5rem;margin:0;padding:0;list-style:none;font-size:.78rem;line-height:1.35}
.parts li{display:grid;grid-template-columns:subgrid;grid-column:1/-1;align-items:center}
.parts li>:last-child{text-align:right}
.track{height:.5rem;background:var(--grid);border-radius:2px}
.track i{display:block;height:100%;border-radius:2px;background:var(--c)}
.partscell{width:34%}
details{margin-top:.6rem}
summary{cursor:pointer;color:var(--accent)}
.basis details{margin:0}
.wide{overflow-x:auto}
.plain th[scope=row]{font-weight:500}
.plain td,.plain th{white-space:nowrap}
.plain th[scope=row]{min-width:9rem;white-space:normal}
.plain td:last-child{white-space:normal;min-width:8rem}
.plain td.kernel{white-space:normal;min-width:9rem}
.xy{display:grid;grid-template-columns:4.6rem minmax(0,1fr);gap:.3rem .5rem;max-width:52rem;margin:.75rem 0 1rem}
.ylabel{grid-column:1/-1;color:var(--muted);font-size:.78rem}
.xlabel{grid-column:1/-1;text-align:right;color:var(--muted);font-size:.78rem}
.area{background:var(--bg);border:1px solid var(--grid)}
.area .grid{stroke:var(--grid)}
.roof{stroke:var(--fg);stroke-width:2}
.rooflabel{fill:var(--muted);font-size:12px}
.area circle{fill:var(--c);stroke:var(--card);stroke-width:1.5;opacity:.92}
.mark{fill:#fff;font-size:11px;font-weight:600}
.basis{display:grid;grid-template-columns:9rem minmax(0,1fr);gap:.5rem 1rem;margin:0;font-size:.9rem}
.basis dt{color:var(--muted)}
.basis dd{margin:0}
.basis ul{margin:0;padding-left:1.1rem}
@media (prefers-color-scheme:dark){.plot .range{opacity:.4}.mark,.whole span{fill:#14171a;color:#14171a}}
@media (max-width:46rem){
body{padding:1rem .6rem 3rem}
section{padding:.8rem .8rem 1rem}
h1{font-size:1.4rem}
.answer{font-size:1.08rem}
.tiles{grid-template-columns:1fr 1fr}
.basis{grid-template-columns:1fr;gap:.1rem}
.basis dt{margin-top:.5rem}
.ranking,.kernels,.ranking tbody,.kernels tbody{display:block}
.ranking thead,.kernels thead{display:block}
.ranking thead tr,.kernels thead tr{display:block}
.ranking thead th:not(.plot),.kernels thead th{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)}
.ranking thead th.plot{display:block;width:auto}
.ranking tbody tr,.kernels tbody tr{display:flex;flex-wrap:wrap;align-items:baseline;position:relative;padding:.35rem 0 .35rem 2rem}
.ranking .rank,.kernels .rank{position:absolute;left:0}
.ranking .none,.plain .bar{display:none}
.ranking td,.ranking th,.kernels td,.kernels th{padding:.05rem 0}
.ranking .device,.kernels .device{min-width:0}
.rank{width:1.6rem}
.ranking .device,.kernels .device{flex:1 1 calc(100% - 5.5rem)}

.ranking tbody .plot,.partscell{order:1;flex:1 0 100%;width:auto}
.ranking thead .plot{padding-left:2rem}
.ranking .time,.kernels .time{order:0;margin-left:auto}
.ranking .more,.kernels .more{order:2}
.kernels .partscell{order:3}
.more{font-size:.8rem;color:var(--muted)}
.more[data-label]::before{content:attr(data-label) " ";opacity:.8}
.ranking .more,.kernels .more{padding-right:.8rem}
.schedule .device{width:6.5rem}
.area{height:320px}
}
@media print{body{max-width:none}section{break-inside:avoid}details{display:block}}
)css";

}  // namespace kernelcast::report
