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

      // The law is the one of `policyctl audit verify`: numbers without a gap, and in each line the digest of the line before.
      // A personal part is there as its line has it, or `audit.erased` names its record; `parts` is null where they were left out.
      function verify(lines, parts, heads) {
        var encoder = new TextEncoder(), before = null, digest = null, digests = {}, alarms = {}, through = 0, first = 0;
        var present = {}, missing = [], erased = [];
        (parts || []).forEach(function (part) { present[sha256(encoder.encode(part))] = true; });
        for (var i = 0; i < lines.length; i++) {
          var record, start = /^\{"seq":([1-9][0-9]*),"prev":"([0-9a-f]{64})",/.exec(lines[i]);
          try { record = JSON.parse(lines[i]); } catch (error) { record = null; }
          if (!start || !record) return { bad: true, text: "Line " + (i + 1) + " is no record." };
          var number = Number(start[1]), fields = record.fields || {};
          var told = record.kind === "audit.alarm" && fields.expectedHash === start[2] && number > fields.expected;
          if (before === null) first = number;
          else if (!told && number !== before + 1)
            return { bad: true, text: "Record " + (before + 1) + " is missing or out of order before record " + number + "." };
          else if (!told && start[2] !== digest)
            return { bad: true, text: "Record " + before + " was changed: its digest is not the one that record " + number + " has." };
          digest = sha256(encoder.encode(lines[i]));
          digests[number] = digest;
          before = number;
          if (parts && record.personal && !present[record.personal]) missing.push(number);
          if (record.kind === "audit.erased") String(fields.records).split(",").forEach(function (range) {
            var ends = range.split("-");
            erased.push([Number(ends[0]), Number(ends[ends.length - 1])]);
          });
          if (record.kind === "audit.alarm") alarms[number] = true;
          if (record.kind === "audit.acknowledged") through = Math.max(through, fields.through || 0);
        }
        missing = missing.filter(function (number) {
          return !erased.some(function (ends) { return ends[0] <= number && number <= ends[1]; });
        });
        if (missing.length) return { bad: true, text: "The personal part of record " + missing[0]
          + " was changed or taken away, and no record tells of an erasure." };
        for (var alarm in alarms)
          if (Number(alarm) > through) return { bad: true, text: "Record " + alarm + " is an alarm that nobody has acknowledged." };
        if (heads) {
          var seq = /(?:^|\s)seq=([0-9]+)/.exec(heads), sha = /(?:^|\s)sha256=([0-9a-f]{64})/.exec(heads);
          if (!seq || !sha) return { bad: true, text: "That is no line of policyctl audit head." };
          if (digests[seq[1]] !== sha[1])
            return { bad: true, text: "Record " + seq[1] + " is not the one that the line has which was kept." };
        }
        return { bad: false, text: "Records " + first + " to " + before + " are one unbroken chain"
          + (parts ? "" : ", without the parts about persons, which were left out")
          + (heads ? ", and the line that was kept fits." : "; the last digest is " + digest + ".") };
      }

      var verdict = document.getElementById("verdict"), head = document.getElementById("head");
      function texts(id) {
        var element = document.getElementById(id);
        return element && element.textContent.split("\n").filter(function (line) { return line; });
      }
      var lines = texts("lines"), parts = texts("personal");
      function show() {
        var result = verify(lines, parts, head.value.trim());
        verdict.textContent = result.text;
        verdict.className = result.bad ? "bad" : "good";
      }
      head.addEventListener("change", show);
      show();

      var filter = document.getElementById("filter"), rows = document.querySelectorAll("tbody tr");
      filter.parentNode.hidden = false;
      filter.addEventListener("input", function () {
        rows.forEach(function (row) {
          row.hidden = row.textContent.toLowerCase().indexOf(filter.value.toLowerCase()) < 0;
        });
      });
    })();

    """#
}
