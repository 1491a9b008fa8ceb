import CommandLineKit
import ForcedDomain
import LinuxFiles
import PreferencesCore

/// One call of a verb: its words, read by its table.
struct Invocation {
  let verb: Verb
  let arguments: ParsedArguments
  /// The words after `DOMAIN KEY` of `write`: the value, in its own little language. Empty for other verbs.
  let valueWords: [String]
  /// The operands that are no domain.
  let operands: [String]
  /// The word that names the domain; nil where the verb has none, or it was left out.
  private let domainWord: DomainWord?
  /// The same call, without what stood before the verb, for messages that repeat it.
  private let words: [String]

  enum DomainWord: Hashable {
    case word(String)
    case global
    case application(String)
  }

  /// - Parameters:
  ///   - leading: the flags before the verb.
  ///   - words: what stood after it.
  init(_ verb: Verb, leading: [String], words: [String]) throws(CommandFailure) {
    let takesDomain = verb.operands.first?.kind == .domain
    let takesValue = verb.operands.last?.kind == .text && verb.operands.last?.name == WriteVerb.valueOperand
    let head = takesValue ? Self.head(of: words, verb) : words
    let designates = takesDomain && Self.designates(head, verb)
    // With a designator, the domain is no operand any more.
    let table = Verb(
      verb.name, summary: verb.summary, operands: Array(verb.operands.dropFirst(designates ? 1 : 0)),
      flags: verb.flags + (takesDomain ? Flags.designators : []), example: verb.example)
    do throws(UsageError) {
      arguments = try ArgumentParser.parse(leading + head, verb: table, shared: Flags.everywhere)
      for (one, other) in [("-currentHost", "-host"), ("-globalDomain", "-app")] {
        if arguments.has(one), arguments.has(other) {
          throw .excludedFlags(verb: verb.name, one, other)
        }
      }
    } catch {
      // A type stands where the key was left out.
      if takesValue, case .unknownFlag(_, let flag, _) = error, ValueWords.isType(flag) {
        throw CommandFailure(.missingOperand(verb: verb.name, name: "KEY"), command: Defaults.name)
      }
      throw CommandFailure(error, command: Defaults.name)
    }
    for second in Flags.designators where takesDomain && !designates && arguments.has(second.name) {
      var failure = CommandFailure(
        .usage, "\(second.name) stands in the place of DOMAIN, and another word is there already",
        next: "\(Defaults.name) \(verb.name) --help")
      failure.verb = verb.name
      throw failure
    }
    self.verb = verb
    self.words = words
    valueWords = Array(words[head.count...])
    if let name = arguments.value("-app") {
      domainWord = .application(name)
    } else if arguments.has("-globalDomain") {
      domainWord = .global
    } else {
      domainWord = takesDomain ? arguments.operands.first.map { .word($0) } : nil
    }
    operands = takesDomain && !designates ? Array(arguments.operands.dropFirst()) : arguments.operands
  }

  /// The words of `write` up to the key.
  private static func head(of words: [String], _ verb: Verb) -> [String] {
    var wanted = designates(words, verb) ? 1 : 2
    var index = 0
    var flagsEnded = false
    while index < words.count, wanted > 0 {
      let word = words[index]
      index += 1
      if flagsEnded || !word.hasPrefix("-") || word == "-" {
        wanted -= 1
      } else if word == "--" {
        flagsEnded = true
      } else if let flag = (Flags.everywhere + Flags.designators).first(where: { $0.name == word }),
        flag.placeholder != nil
      {
        index += 1
      }
    }
    // Behind the text of a whole domain, as behind the operands of other verbs.
    if wanted == 0, words[index - 1].hasPrefix("{"), words[index...] == [Flags.skipForced.name] { return words }
    return Array(words.prefix(index))
  }

  /// Whether the first word that could name a domain is `-g` or `-app` instead.
  private static func designates(_ words: [String], _ verb: Verb) -> Bool {
    let flags = Flags.everywhere + verb.flags
    var index = 0
    while index < words.count {
      let word = words[index]
      index += 1
      if !word.hasPrefix("-") || word == "-" || word == "--" { return false }
      let spelled = String(word.prefix { $0 != "=" })
      if Flags.designators.contains(where: { $0.name == spelled || $0.short == spelled }) { return true }
      if let flag = flags.first(where: { $0.name == word }), flag.placeholder != nil { index += 1 }
    }
    return false
  }

  // MARK: Where

  var root: String? { arguments.value("--root") }
  var wantsJSON: Bool { arguments.value("--format") == "json" }

  /// The installation whose policy counts, and which has the files for every user.
  func installation() -> Installation { Installation.locate(root: root).installation }

  var user: PersistentDomain.User { arguments.has("--any-user") ? .any : .current }

  var host: PersistentDomain.Host {
    if arguments.has("-currentHost") { return .current }
    guard let identifier = arguments.value("-host") else { return .any }
    return identifier == HostIdentifier.current() ? .current : .named(identifier)
  }

  /// The domain that the call names; nil where it was left out.
  func domain() throws(CommandFailure) -> DomainReference? {
    switch domainWord {
    case nil: nil
    case .global: try DomainReference(GlobalDomain.name, self)
    case .application(let name): try DomainReference(ApplicationDomain.named(name), self)
    case .word(let word): try DomainReference(word, self)
    }
  }

  /// The domain of a verb that can't do without.
  func requiredDomain() throws(CommandFailure) -> DomainReference {
    guard let domain = try domain() else { throw usage(.missingOperand(verb: verb.name, name: "DOMAIN")) }
    return domain
  }

  // MARK: Messages

  /// A command on the same host, user and root, to be typed.
  func command(_ words: String...) -> String { command(words) }

  func command(_ words: [String]) -> String { ShellWord.join([Defaults.name] + places + words) }

  /// The same command line with more words after the verb.
  func again(adding extra: String...) -> String { command([verb.name] + extra + words) }

  /// The same `write` with other words for its value.
  func again(withValue value: [String]) -> String {
    command([verb.name] + words.dropLast(valueWords.count) + value)
  }

  /// The same command line for the domain by name, where it names the file in which macOS keeps it: for every user
  /// `/Library/Preferences/DOMAIN`, for this one `~/Library/Preferences/DOMAIN`. Here domains are elsewhere.
  func byNameInsteadOfPathOfMac() -> [String] {
    guard case .word(let path)? = domainWord else { return [] }
    let folder = "/Library/Preferences"
    let isForEveryone = FilePath.parent(of: path) == folder
    guard isForEveryone || (path.hasPrefix("/") && FilePath.parent(of: path).hasSuffix(folder)) else { return [] }
    var name = FilePath.name(of: path)
    if name.hasSuffix(".plist") { name.removeLast(".plist".count) }
    let flags = isForEveryone ? ["--any-user"] : []
    return [ShellWord.join([Defaults.name] + places + flags + [verb.name] + words.map { $0 == path ? name : $0 })]
  }

  /// `policyctl` on the same root.
  func policyctl(_ words: String...) -> String {
    ShellWord.join(["policyctl"] + (root.map { ["--root", $0] } ?? []) + words)
  }

  private var places: [String] {
    (root.map { ["--root", $0] } ?? []) + (arguments.has("--any-user") ? ["--any-user"] : [])
      + (arguments.has("-currentHost") ? ["-currentHost"] : [])
      + (arguments.value("-host").map { ["-host", $0] } ?? [])
  }

  /// A usage error of this verb.
  func usage(_ error: UsageError) -> CommandFailure { CommandFailure(error, command: Defaults.name) }

  /// A usage error in words of its own.
  func usage(_ message: String, next: [String] = []) -> CommandFailure {
    var failure = CommandFailure(.usage, message, next: next.isEmpty ? ["\(Defaults.name) \(verb.name) --help"] : next)
    failure.verb = verb.name
    return failure
  }
}
