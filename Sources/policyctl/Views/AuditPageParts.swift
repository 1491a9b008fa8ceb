/// The style and the script of the exported page: nothing in them depends on the log.
enum AuditPageParts {
  static let style = """
    :root { color-scheme: light dark; --ink: #1b1b1f; --paper: #ffffff; --faint: #55555f; --line: #c9c9d2;
      --good: #0b6b2f; --bad: #a8071a; --link: #0b57d0; }
    @media (prefers-color-scheme: dark) { :root { --ink: #ececf1; --paper: #17171b; --faint: #b4b4c0; --line: #45454f;
      --good: #6fdc8c; --bad: #ff8f9b; --link: #9fc3ff; } }
    body { margin: 0 auto; max-width: 75rem; padding: 1rem; font: 1rem/1.5 system-ui, sans-serif;
      color: var(--ink); background: var(--paper); }
    a { color: var(--link); }
    .skip { position: absolute; left: -100rem; }
    .skip:focus { position: static; }
    .good { color: var(--good); }
    .bad { color: var(--bad); }
    .faint, footer { color: var(--faint); }
    #verdict, footer { overflow-wrap: anywhere; }
    code, pre, input { font: 0.9rem/1.4 ui-monospace, monospace; }
    input { width: 100%; max-width: 50rem; box-sizing: border-box; padding: 0.4rem; color: inherit;
      background: transparent; border: 1px solid var(--faint); border-radius: 0.25rem; }
    .scroll, pre { overflow-x: auto; }
    table { border-collapse: collapse; width: 100%; }
    th, td { padding: 0.25rem 0.75rem 0.25rem 0; text-align: left; vertical-align: top;
      border-bottom: 1px solid var(--line); }
    td:last-child { overflow-wrap: anywhere; min-width: 16rem; }
    td:nth-child(2), td:nth-child(3) { white-space: nowrap; }
    @media print { .scripted, #head, label[for=head], .skip { display: none; } }

    """

  /// SHA-256 by FIPS 180-4, since pages that are opened as files have no `crypto.subtle` in some browsers.
  static let script = #"""
    "use strict";
    (function () {
      var primes = [];
      for (var n = 2; primes.length < 64; n++) if (primes.every(function (p) { return n % p; })) primes.push(n);
      function fraction(x) { return ((x - Math.floor(x)) * 4294967296) | 0; }
      var K = primes.map(function (p) { return fraction(Math.cbrt(p)); });
      var H = primes.slice(0, 8).map(function (p) { return fraction(Math.sqrt(p)); });

      function sha256(bytes) {
        var length = ((bytes.length + 9 + 63) >> 6) << 6, padded = new Uint8Array(length), w = new Int32Array(64);
        padded.set(bytes);
        padded[bytes.length] = 128;
        var view = new DataView(padded.buffer);
        view.setUint32(length - 8, Math.floor(bytes.length / 536870912));
        view.setUint32(length - 4, (bytes.length << 3) >>> 0);
        var h = H.slice();
        for (var block = 0; block < length; block += 64) {
          var i, t1, t2, x, y;
          for (i = 0; i < 16; i++) w[i] = view.getInt32(block + 4 * i);
          for (; i < 64; i++) {
            x = w[i - 15], y = w[i - 2];
            w[i] = w[i - 16] + w[i - 7] + ((x >>> 7 | x << 25) ^ (x >>> 18 | x << 14) ^ x >>> 3)
              + ((y >>> 17 | y << 15) ^ (y >>> 19 | y << 13) ^ y >>> 10);
          }
          var a = h[0], b = h[1], c = h[2], d = h[3], e = h[4], f = h[5], g = h[6], k = h[7];
          for (i = 0; i < 64; i++) {
            t1 = k + ((e >>> 6 | e << 26) ^ (e >>> 11 | e << 21) ^ (e >>> 25 | e << 7)) + (e & f ^ ~e & g) + K[i] + w[i] | 0;
            t2 = ((a >>> 2 | a << 30) ^ (a >>> 13 | a << 19) ^ (a >>> 22 | a << 10)) + (a & b ^ a & c ^ b & c) | 0;
            k = g; g = f; f = e; e = d + t1 | 0; d = c; c = b; b = a; a = t1 + t2 | 0;
          }
          h = [h[0] + a | 0, h[1] + b | 0, h[2] + c | 0, h[3] + d | 0, h[4] + e | 0, h[5] + f | 0, h[6] + g | 0, h[7] + k | 0];
        }
        return h.map(function (word) { return ("0000000" + (word >>> 0).toString(16)).slice(-8); }).join("");
      }

      // As `audit show` escapes.
      function escape(text) {
        return text.replace(/\n/g, "\\n").replace(/\t/g, "\\t").replace(/\r/g, "\\r").replace(
          /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\u{e0000}-\u{e007f}]/gu,
          function (c) { return "\\u{" + c.codePointAt(0).toString(16) + "}"; });
      }
      // Numbers keep their digits: { "\u0000": "12" }.
      function exact(line) {
        return JSON.parse(line.replace(/"(?:[^"\\]|\\.)*"|-?[0-9][0-9.eE+-]*/g, function (word) {
          return word.charAt(0) === '"' ? word : '{"\\u0000":"' + word + '"}';
        }));
      }
      function members(value) {
        return Object.keys(value).sort().map(function (name) { return escape(name) + ": " + text(value[name]); });
      }
      function text(value) {
        if (typeof value === "string") return escape(value);
        if (Array.isArray(value)) return "[" + value.map(text).join(", ") + "]";
        if (typeof value !== "object" || value === null) return String(value);
        return "\u0000" in value ? value["\u0000"] : "{" + members(value).join(", ") + "}";
      }
      function markup(text) {
        return text.replace(/&/g, "&amp;").replace(/\u00a0/g, "&nbsp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");
      }
      // A row of the table, from a line and its personal part: undefined where there is none, null where all were left out.
      function row(line, part) {
        var record = exact(line), who = "\u2014", told = record;
        if (record.personal && !part) who = part === null ? "left out" : "erased";
        else {
          if (part) told = exact(part);
          var person = told.attested || told.unattested || told.claimed, user = person && person.uid && text(person.uid);
          if (/^[0-9]+$/.test(user) && Number(user) < 4294967296) {
            var program = (told.attested || told.claimed || {}).executable;
            who = "uid " + user + (typeof program === "string" ? ", " + escape(program) : "")
              + (told.attested ? "" : told.unattested ? " (unattested: found in this user's spool"
              + ("origin" in told.unattested ? ", of an unknown host)" : ")") : " (claimed)");
          }
        }
        return "<tr><th scope=\"row\">" + text(record.seq) + "</th>" + [record.time, record.kind, who,
          members(told.fields || {}).join("; ")].map(function (cell) { return "<td>" + markup(cell) + "</td>"; }).join("")
          + "</tr>\n";
      }
      function span(range) { return range[0] === range[1] ? String(range[0]) : range[0] + " to " + range[1]; }
      function list(ranges) {
        var words = ranges.map(span), last = words.pop();
        return words.length ? words.join(", ") + " and " + last : last;
      }

      // The law is the one of `policyctl audit verify`: numbers without a gap, and in each line the digest of the line before.
      // Behind records that were lost the chain goes on with an alarm that somebody has acknowledged. A personal part is there as
      // its line has it, or `audit.erased` names its record; `parts` is null where they were left out.
      function verify(lines, parts, heads) {
        var encoder = new TextEncoder(), before = null, digest = null, digests = {}, alarms = [], acknowledged = [];
        var first = 0, present = {}, missing = [], erased = [], matched = 0, rows = [], ranges = [], losses = [];
        var beginning = null, checkpoint = null, aside = [], host, log, time;
        function bad(text) { return { bad: true, text: text }; }
        (parts || []).forEach(function (part) { present[sha256(encoder.encode(part))] = part; });
        for (var i = 0; i < lines.length; i++) {
          var record, start = /^\{"seq":([1-9][0-9]*),"prev":"([0-9a-f]{64})",/.exec(lines[i]);
          try { record = JSON.parse(lines[i]); } catch (error) { record = null; }
          if (!start || !record) return bad("Line " + (i + 1) + " is no record.");
          var number = Number(start[1]), fields = record.fields || {};
          var told = record.kind === "audit.alarm" && fields.expectedHash === start[2]
            && number > Math.max(fields.expected, fields.found);
          if (before === null) {
            first = number;
            if (!told && number === 1 && /[^0]/.test(start[2])) return bad("Record 1 names one before it.");
            if (!told && number > 1) beginning = start[2];
          } else if (number !== before + 1 || start[2] !== digest) {
            if (told && number > before) losses.push({ lost: [before + 1, number - 1], alarm: number });
            else if (number !== before + 1)
              return bad("Record " + (before + 1) + " is missing or out of order before record " + number + ".");
            else
              return bad("Record " + before + " was changed: its digest is not the one that record " + number + " has.");
          }
          if (before !== null && number === before + 1) ranges[ranges.length - 1][1] = number;
          else ranges.push([number, number]);
          digest = sha256(encoder.encode(lines[i]));
          digests[number] = digest;
          before = number;
          host = record.host;
          time = record.time;
          if (record.kind.indexOf("audit.") === 0 && fields.log) log = fields.log;
          if (parts && record.personal) {
            if (present[record.personal] === undefined) missing.push(number);
            else matched++;
          }
          rows.push(row(lines[i], parts ? present[record.personal] : null));
          if (record.kind === "audit.erased") String(fields.records).split(",").forEach(function (range) {
            var ends = range.split("-");
            erased.push([Number(ends[0]), Number(ends[ends.length - 1])]);
          });
          if (record.kind === "audit.checkpoint" || record.kind === "audit.set-aside")
            checkpoint = fields.through + 1 >= first ? fields : checkpoint;
          if (record.kind === "audit.set-aside") {
            aside.push(number);
            acknowledged.push({ through: fields.through || 0, by: number });
          }
          if (record.kind === "audit.alarm") alarms.push(number);
          if (record.kind === "audit.acknowledged") acknowledged.push({ through: fields.through || 0, by: number });
        }
        if (!lines.length) return bad("There are no lines.");
        missing = missing.filter(function (number) {
          return !erased.some(function (ends) { return ends[0] <= number && number <= ends[1]; });
        });
        if (missing.length) return bad("The personal part of record " + missing[0]
          + " was changed or taken away, and no record tells of an erasure.");
        if (parts && matched !== parts.length) return bad("There is a personal part that belongs to no record.");
        if (beginning && !checkpoint)
          return bad("Records " + span([1, first - 1]) + " are missing, and no checkpoint vouches for them.");
        if (beginning && checkpoint.through + 1 === first && checkpoint.hash !== beginning)
          return bad("There was another record before record " + first + " than the checkpoint says.");
        function settling(alarm) { return acknowledged.filter(function (one) { return one.through >= alarm; })[0]; }
        for (var a = 0; a < alarms.length; a++)
          if (!settling(alarms[a])) return bad("Record " + alarms[a] + " is an alarm that nobody has acknowledged.");
        if (heads) {
          var seq = /(?:^|\s)seq=([0-9]+)/.exec(heads), sha = /(?:^|\s)sha256=([0-9a-f]{64})/.exec(heads);
          var other = /(?:^|\s)log=(\S+)/.exec(heads);
          if (!seq || !sha) return bad("That is no line of policyctl audit head.");
          if (other && log && other[1] !== log) return bad("The line that was kept is of another log.");
          if (digests[seq[1]] !== sha[1])
            return bad("Record " + seq[1] + " is not the one that the line has which was kept.");
        }
        var words = "Records " + list(ranges)
          + (losses.length ? " are an unbroken chain but for what was lost: " + losses.map(function (loss) {
            return (loss.lost[0] > loss.lost[1] ? "the chain began anew with record " + loss.alarm : span(loss.lost) + " lost")
              + ", acknowledged in record " + settling(loss.alarm).by;
          }).join("; ") : " are one unbroken chain")
          + (beginning ? ", complete from record " + first + " on, as "
            + (checkpoint.folder ? "its record of what was set aside" : "a checkpoint") + " tells" : "")
          + (aside.length ? "; what did not verify was set aside before record " + list(aside.map(function (number) {
            return [number, number];
          })) : "");
        return { bad: false, text: words
          + (parts ? "" : ", without the parts about persons, which were left out")
          + (heads ? ", and the line that was kept fits." : "; the last digest is " + digest + "."),
          rows: rows, host: host, extent: lines.length + (lines.length === 1 ? " record, " : " records, ") + list(ranges),
          end: "audit-head" + (host ? " host=" + host : "") + (log ? " log=" + log : "") + " seq=" + before + " sha256="
            + digest + " time=" + time };
      }

      function element(id) { return document.getElementById(id); }
      // What can be read without scripts has to be what the lines say, to the byte. The table is then the one that was made here.
      function pageFault(checked) {
        var body = element("rows"), title = "Audit log of " + (checked.host || "a host"), shown = body.innerHTML;
        var table = "\n" + checked.rows.join("");
        body.innerHTML = table;
        if (element("end").textContent !== checked.end)
          return "The page ends with another line than it prints as its end: the lines say " + checked.end;
        if (element("extent").textContent !== checked.extent)
          return "The page prints other records than it has: the lines are " + checked.extent + ".";
        if (document.title !== title || element("title").textContent !== title)
          return "The page has another title than its lines: " + title + ".";
        if (element("columns").innerHTML
          !== ["Number", "Time (UTC)", "Kind", "Who", "What"].map(function (name) {
            return "<th scope=\"col\">" + name + "</th>";
          }).join("")) return "The names of the table's columns were changed.";
        if (shown === table) return null;
        var old = shown.split("\n"), now = table.split("\n"), at = 1;
        while (old[at] === now[at]) at++;
        return "The table was changed in its row " + at + ": it now shows what the lines say.";
      }

      var verdict = element("verdict"), head = element("head");
      function texts(id) {
        var lines = element(id) && element(id).textContent.split("\n");
        if (lines && lines[lines.length - 1] === "") lines.pop();
        return lines;
      }
      var lines = texts("lines"), parts = texts("personal"), fault;
      function show() {
        var result = verify(lines, parts, head.value.trim());
        if (fault === undefined && !result.bad) fault = pageFault(result);
        if (fault && !result.bad) result = { bad: true, text: fault };
        verdict.textContent = result.text;
        verdict.className = result.bad ? "bad" : "good";
      }
      head.addEventListener("change", show);
      show();

      var filter = element("filter"), rows = document.querySelectorAll("tbody tr");
      filter.parentNode.hidden = false;
      filter.addEventListener("input", function () {
        rows.forEach(function (row) {
          row.hidden = row.textContent.toLowerCase().indexOf(filter.value.toLowerCase()) < 0;
        });
      });
    })();

    """#
}
