import CommandLineKit
import ForcedDomain
import LinuxFiles
import PreferencesCore
import PropertyList

/// `containers`: one paragraph for each.
struct ContainersView {
  typealias Row = (survey: ContainerSurvey, grants: ApplicationGrants?)
  let rows: [Row]

  init(_ rows: [Row]) { self.rows = rows }

  func json() -> JSONWriter {
    var json = JSONWriter(pretty: true)
    json.beginObject()
    json.key("containers")
    json.beginArray()
    for (survey, grants) in rows {
      json.beginObject()
      json.key("identifier")
      json.string(survey.identifier)
      json.key("directory")
      json.string(survey.directory)
      json.key("bytes")
      json.integer(survey.byteCount)
      json.key("files")
      json.integer(Int64(survey.fileCount))
      json.key("grants")
      if let grants {
        json.beginObject()
        for (name, list) in [("groups", grants.groups), ("read", grants.read), ("files", grants.files)] {
          json.key(name)
          json.strings(list)
        }
        json.key("profiles")
        json.strings(grants.profiles)
        json.endObject()
      } else {
        json.null()
      }
      json.key("fault")
      json.optional(survey.fault.map { "\($0)" })
      json.key("redirected")
      json.beginArray()
      for domain in survey.redirected {
        json.beginObject()
        json.key("domain")
        json.string(domain.domain)
        json.key("written")
        json.string(InstantText.rfc3339(domain.written))
        json.endObject()
      }
      json.endArray()
      json.endObject()
    }
    json.endArray()
    json.endObject()
    return json
  }

  func text(_ palette: Palette, now: Int64) -> String {
    rows.map { survey, grants in
      var text = palette.paint(TerminalText.escape(survey.identifier), .strong)
      text += "  \(ByteCount.files(survey.fileCount)), \(ByteCount.text(survey.byteCount))\n"
      var table = TextTable([.left, .left, .left], indent: 2)
      if let grants {
        table.add(["contained by", TextTable.Cell(Self.list(grants.profiles))])
        if !grants.groups.isEmpty { table.add(["shares", TextTable.Cell(Self.list(grants.groups))]) }
        if !grants.read.isEmpty { table.add(["reads", TextTable.Cell(Self.list(grants.read))]) }
        if !grants.files.isEmpty { table.add(["files", TextTable.Cell(Self.list(grants.files))]) }
      } else {
        table.add(["contained by", TextTable.Cell("no policy in force", .faint)])
      }
      if let fault = survey.fault { table.add(["fault", TextTable.Cell(TerminalText.escape("\(fault)"), .error)]) }
      for domain in survey.redirected {
        table.add([
          "redirected", TextTable.Cell(TerminalText.escape(domain.domain)),
          TextTable.Cell(InstantText.short(domain.written, now: now)),
        ])
      }
      return text + table.text(palette)
    }.joined(separator: "\n")
  }

  private static func list(_ names: [String]) -> String {
    names.map { TerminalText.escape($0) }.joined(separator: ", ")
  }
}

/// `containers show`: the keys of each redirected domain, in the container and outside.
struct ContainerContentsView {
  struct Key {
    let name: String
    let isSecret: Bool
    let inContainer: PropertyListValue?
    let outside: PropertyListValue?
  }

  struct Domain {
    let name: String
    let path: String
    /// Unix seconds.
    let written: Int64
    let keys: [Key]
  }

  let identifier: String
  let directory: String
  /// False: names only.
  let showsValues: Bool
  let domains: [Domain]

  func json() -> JSONWriter {
    var json = JSONWriter(pretty: true)
    json.beginObject()
    json.key("identifier")
    json.string(identifier)
    json.key("directory")
    json.string(directory)
    json.key("values")
    json.string(showsValues ? "shown" : "withheld")
    json.key("domains")
    json.beginArray()
    for domain in domains {
      json.beginObject()
      json.key("domain")
      json.string(domain.name)
      json.key("path")
      json.string(domain.path)
      json.key("written")
      json.string(InstantText.rfc3339(domain.written))
      json.key("keys")
      json.beginArray()
      for key in domain.keys {
        json.beginObject()
        json.key("key")
        json.string(key.name)
        json.key("secret")
        json.boolean(key.isSecret)
        json.key("hasReal")
        json.boolean(key.outside != nil)
        for (name, value) in [("container", key.inContainer), ("real", key.outside)] {
          json.key(name)
          if let value, shows(key) { json.value(value) } else { json.null() }
        }
        json.endObject()
      }
      json.endArray()
      json.endObject()
    }
    json.endArray()
    json.endObject()
    return json
  }

  func text(_ palette: Palette, now: Int64) -> String {
    var text = TerminalText.escape(directory) + "\n"
    if domains.isEmpty { return text + "Nothing was redirected.\n" }
    for domain in domains {
      text += "\n" + palette.paint(TerminalText.escape(domain.name), .strong)
      text += "  \(InstantText.short(domain.written, now: now))\n"
      var table = TextTable([.left, .left, .left], indent: 2)
      if showsValues, !domain.keys.isEmpty { table.add(["key", "in the container", "real"]) }
      for key in domain.keys {
        let name = TextTable.Cell(TerminalText.escape(key.name))
        if !showsValues {
          table.add([name])
        } else if key.isSecret {
          table.add([name, TextTable.Cell("secret", .faint)])
        } else {
          table.add([name, Self.cell(key.inContainer), Self.cell(key.outside)])
        }
      }
      text += table.text(palette)
    }
    return text
  }

  private func shows(_ key: Key) -> Bool { showsValues && !key.isSecret }

  private static func cell(_ value: PropertyListValue?) -> TextTable.Cell {
    value.map { TextTable.Cell($0.displayText) } ?? TextTable.Cell("—", .faint)
  }
}
