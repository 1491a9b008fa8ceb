import LinuxFiles
import PropertyList

/// The language domains of a process: one volatile domain for each language that the user prefers.
///
/// They are made when one of their keys is first asked for. Few programs ever ask, and the C library's locale files would
/// cost all of them a part of their launch.
final class LanguageDomains: @unchecked Sendable {
  /// Those of the environment, as it is when they are first needed.
  static let ofThisProcess = LanguageDomains(PreferredLanguage.list(EnvironmentVariables.value))

  let languages: [PreferredLanguage]
  private let lock = EngineLock()
  /// Guarded by `lock`.
  private var made: [String: [String: PropertyListValue]] = [:]

  init(_ languages: [PreferredLanguage]) { self.languages = languages }

  /// - Parameter locales: names of locales in order of preference; none for no language domains.
  convenience init(locales: [String]) { self.init(locales.isEmpty ? [] : PreferredLanguage.list(locales)) }

  var tags: [String] { languages.map(\.tag) }

  /// What the domain of a language holds; nil for a language that is not among them.
  func values(ofLanguage tag: String) -> [String: PropertyListValue]? {
    lock.withLock {
      if let values = made[tag] { return values }
      guard let language = languages.first(where: { $0.tag == tag }) else { return nil }
      var values = language.tag == "en" ? Self.english : LocaleData.values(ofLocale: language.locale)
      if language == languages.first {
        let tags = PropertyListValue.array(self.tags.map { .string($0) })
        values[LanguageKey.languages.rawValue] = tags
        values[LanguageKey.appleLanguages.rawValue] = tags
      }
      made[tag] = values
      return values
    }
  }

  /// In a forked child: whoever held the lock is not there.
  func renewAfterFork() { lock.renew() }

  /// The values that the reference documents for English.
  private static var english: [String: PropertyListValue] {
    func list(_ words: String...) -> PropertyListValue { .array(words.map { .string($0) }) }
    func initials(_ words: [String]) -> PropertyListValue { .array(words.map { .string(String($0.prefix(3))) }) }
    let months = [
      "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
      "December",
    ]
    let days = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"]
    let values: [LanguageKey: PropertyListValue] = [
      .amPMDesignation: list("AM", "PM"),
      .dateFormatString: .string("%A, %B %d, %Y"),
      .dateTimeOrdering: .string("MDYH"),
      .earlierTimeDesignations: list("prior", "last", "past", "ago"),
      .hourNameDesignations: .array([
        list("0", "midnight"), list("10", "morning"), list("12", "noon", "lunch"), list("14", "afternoon"),
        list("19", "dinner"),
      ]),
      .laterTimeDesignations: list("next"),
      .monthNameArray: .array(months.map { .string($0) }),
      .nextDayDesignations: list("tomorrow"),
      .nextNextDayDesignations: list("nextday"),
      .priorDayDesignations: list("yesterday"),
      .shortDateFormatString: .string("%d/%m/%y"),
      .shortMonthNameArray: initials(months),
      .shortTimeDateFormatString: .string("%d-%b-%y %-I:%M %p"),
      .shortWeekDayNameArray: initials(days),
      .thisDayDesignations: list("today", "now"),
      .timeDateFormatString: .string("%A, %B %d, %Y %H:%M:%S %Z"),
      .timeFormatString: .string("%-I:%M:%S %p"),
      .weekDayNameArray: .array(days.map { .string($0) }),
      .yearMonthWeekDesignations: list("year", "month", "week"),
      .currencySymbol: .string("$"),
      .decimalDigits: .array("0123456789".map { .string(String($0)) }),
      .decimalSeparator: .string("."),
      .internationalCurrencyString: .string("USD"),
      .negativeCurrencyFormatString: .string("-$9,999.00"),
      .positiveCurrencyFormatString: .string("$9,999.00"),
      .thousandsSeparator: .string(","),
    ]
    return Dictionary(uniqueKeysWithValues: values.map { ($0.key.rawValue, $0.value) })
  }
}
