/// The rules of the page and of its plots.
///
/// Blue and orange, and blue and vermilion, stay apart for people who see few colors; shapes and words say the same.
enum PageStyle {
    /// Colors by daylight.
    static let light: StaticString = """
        :root{--page:#fff;--ink:#1b1f24;--muted:#5b636d;--grid:#e3e6ea;--track:#eef0f3;--allowed:#dcebf7;\
        --bar:#3d4650;--first:#0b62a8;--second:#a34b00;--missed:#b3261e}
        """

    /// Colors on black, which is what DocC has in the dark.
    static let dark: StaticString = """
        :root{--page:#000;--ink:#e6e9ed;--muted:#9aa4b0;--grid:#2a3037;--track:#232930;--allowed:#1d3a55;\
        --bar:#b9c2cc;--first:#6db5f2;--second:#f0a05a;--missed:#ff8a7a}
        """

    /// The same for a page that follows the reader's system.
    static let darkWherePreferred: StaticString = """
        @media screen and (prefers-color-scheme:dark){:root{--page:#14171b;--ink:#e6e9ed;--muted:#9aa4b0;--grid:#2a3037;\
        --track:#232930;--allowed:#1d3a55;--bar:#b9c2cc;--first:#6db5f2;--second:#f0a05a;--missed:#ff8a7a}}
        """

    static let plots: StaticString = """
        .text{font:13px system-ui,-apple-system,"Segoe UI","Noto Sans","DejaVu Sans",sans-serif;fill:var(--ink);\
        font-variant-numeric:tabular-nums;paint-order:stroke;stroke:var(--page);stroke-width:4px;stroke-linejoin:round}
        .strong{font-weight:600}.muted{fill:var(--muted)}.small{font-size:11px}
        .first-text{fill:var(--first)}.second-text{fill:var(--second)}.missed-text{fill:var(--missed)}
        .grid{stroke:var(--grid)}.floor{stroke:var(--muted)}.track{stroke:var(--track);stroke-width:6;\
        stroke-linecap:round}
        .allowed{fill:var(--allowed)}.bar{stroke:var(--bar);stroke-width:1.5}
        .mark,.first{fill:var(--first);stroke:var(--first)}.second{fill:var(--second);stroke:var(--second)}
        .missed{fill:var(--missed);stroke:var(--missed)}.faint{fill-opacity:.8}
        .spread{stroke-width:2}.curve{fill:none;stroke-width:2;stroke-linejoin:round}
        """

    static let page: StaticString = """
        *{box-sizing:border-box}
        html{background:var(--page);color:var(--ink);color-scheme:light dark;-webkit-text-size-adjust:100%}
        body{font:16px/1.55 system-ui,-apple-system,"Segoe UI","Noto Sans","DejaVu Sans",sans-serif;margin:0 auto;\
        max-width:1000px;padding:40px 24px 64px;overflow-wrap:break-word}
        h1{font-size:30px;line-height:1.2;margin:0 0 8px;letter-spacing:-.01em}
        h2{font-size:20px;line-height:1.3;margin:56px 0 12px}
        p,figcaption{max-width:70ch}
        .lead{font-size:18px;margin:0 0 20px}
        .note{border-left:3px solid var(--second);padding-left:12px}
        figure{margin:0}
        figcaption,.quiet{color:var(--muted);font-size:14px;line-height:1.5;margin-top:12px}
        svg{display:block;max-width:100%;height:auto}
        .narrow{display:none}
        dl{display:grid;grid-template-columns:max-content 1fr;gap:2px 20px;margin:0 0 20px;font-size:15px}
        dt{color:var(--muted)}dd{margin:0}
        table{border-collapse:collapse;width:100%;font-size:14px;line-height:1.4;font-variant-numeric:tabular-nums}
        th{font-weight:600;text-align:left;vertical-align:bottom;border-bottom:1.5px solid var(--bar);padding:6px 10px 6px 0}
        td{border-bottom:1px solid var(--grid);padding:6px 10px 6px 0;vertical-align:top}
        td.number,th.number{text-align:right;white-space:nowrap}
        td.id{font-weight:600;white-space:nowrap}
        td.missed{color:var(--missed);font-weight:600}td.absent{color:var(--muted)}
        td:last-child,th:last-child{padding-right:0}
        .peer{color:var(--muted)}
        @media (max-width:760px){
        body{padding:24px 16px 48px}h1{font-size:25px}h2{margin-top:40px}
        .wide{display:none}.narrow{display:block}
        dl{grid-template-columns:1fr;gap:0}dd{margin-bottom:6px}
        thead{display:none}table,tbody,tr,td{display:block}
        tr{border-bottom:1px solid var(--grid);padding:10px 0}
        td,td.number{border:0;padding:1px 0;text-align:left;white-space:normal}
        td:empty{display:none}
        td[data-name]::before{content:attr(data-name) ": ";color:var(--muted);font-weight:400}}
        @media print{
        body{font-size:10.5pt;max-width:none;padding:0}h2{break-after:avoid;margin-top:28px}
        figure,tr{break-inside:avoid}table{font-size:8.5pt}
        *{-webkit-print-color-adjust:exact;print-color-adjust:exact}}
        """
}
