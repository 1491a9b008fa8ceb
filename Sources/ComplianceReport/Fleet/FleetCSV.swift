/// A fleet report for spreadsheets: a row for each host and control, and one for each host that is missing.
public enum FleetCSV {
  public static func document(_ fleet: FleetReport) -> [UInt8] {
    var text = ReportCSV.line([
      "host", "user", "generation", "sources", "made", "control", "title", "severity", "result", "message",
    ])
    var messages: [[Int: String]] = Array(repeating: [:], count: fleet.rows.count)
    for (number, control) in fleet.controls.enumerated() {
      for (row, message) in control.bad { messages[row][number] = message }
    }
    let ends = fleet.controls.map {
      "," + [$0.id, $0.title, $0.severity].map(ReportCSV.cell).joined(separator: ",") + ","
    }
    for (index, row) in fleet.rows.enumerated() {
      let head = [
        row.host, row.user, row.generation.map(String.init) ?? "", row.sources,
        row.made.map(ReportJSON.moment) ?? "",
      ].map(ReportCSV.cell).joined(separator: ",")
      if row.isWorseThanItsControls {
        text += head + ",,the host as a whole,,\(row.verdict == .fail ? "fail" : "error"),see its own report\r\n"
      }
      for (number, result) in row.results.enumerated() {
        guard let result else { continue }
        text += head + ends[number] + result.rawValue + "," + ReportCSV.cell(messages[index][number] ?? "") + "\r\n"
      }
    }
    for host in fleet.missing { text += ReportCSV.line([host, "", "", "", "", "", "", "", "missing", "no report"]) }
    for host in fleet.unknown {
      text += ReportCSV.line([host.name, "", "", "", "", "", "", "", "unknown", "not in the inventory: \(host.why)"])
    }
    for file in fleet.unreadable {
      text += ReportCSV.line(["", "", "", "", "", "", file.name, "", "unreadable", file.why])
    }
    return Array(text.utf8)
  }
}
