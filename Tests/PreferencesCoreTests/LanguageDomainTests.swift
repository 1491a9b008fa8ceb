import ForcedDomain
import Foundation
import Glibc
import PropertyList
import Synchronization
import TestPrograms
import Testing

@testable import PreferencesCore

@Suite struct LanguageDomainTests {
  struct Row: Sendable, CustomTestStringConvertible {
    let variables: [String: String]
    let tags: [String]
    var testDescription: String { variables.sorted { $0.key < $1.key }.map { "\($0)=\($1)" }.joined(separator: " ") }
  }

  static let rows: [Row] = [
    Row(variables: [:], tags: ["en"]),
    Row(variables: ["LANG": "C"], tags: ["en"]),
    Row(variables: ["LANG": "POSIX", "LANGUAGE": "de"], tags: ["en"]),
    Row(variables: ["LC_ALL": "C", "LANG": "de_DE.UTF-8", "LANGUAGE": "fr"], tags: ["en"]),
    Row(variables: ["LANG": "C.UTF-8"], tags: ["en"]),
    Row(variables: ["LANG": "en_US.UTF-8"], tags: ["en-US", "en"]),
    Row(variables: ["LANG": "de_AT.UTF-8"], tags: ["de-AT", "en"]),
    Row(variables: ["LANG": "de_AT.UTF-8", "LC_MESSAGES": "fr_FR"], tags: ["fr-FR", "en"]),
    Row(variables: ["LANG": "de_AT", "LC_MESSAGES": "fr_FR", "LC_ALL": "it_IT@euro"], tags: ["it-IT", "en"]),
    Row(variables: ["LANG": "de_AT", "LC_MESSAGES": "", "LC_ALL": ""], tags: ["de-AT", "en"]),
    Row(variables: ["LANG": "de_AT", "LANGUAGE": "fr_CH:fr:en_GB"], tags: ["fr-CH", "fr", "en-GB", "en"]),
    Row(variables: ["LANG": "de_AT", "LANGUAGE": "fr:fr::de"], tags: ["fr", "de", "en"]),
    Row(variables: ["LANG": "de_AT", "LANGUAGE": "en:de"], tags: ["en", "de"]),
    Row(variables: ["LANGUAGE": "fr"], tags: ["en"]),
    Row(variables: ["LANG": "sr_RS.UTF-8@latin"], tags: ["sr-Latn-RS", "en"]),
    Row(variables: ["LANG": "zh_TW.Big5"], tags: ["zh-TW", "en"]),
    Row(variables: ["LANG": "../../../tmp/evil"], tags: ["en"]),
    Row(variables: ["LANG": "x"], tags: ["en"]),
    Row(variables: ["LANG": "de__AT"], tags: ["en"]),
    Row(variables: ["LANG": ".UTF-8"], tags: ["en"]),
    Row(variables: ["LANG": String(repeating: "de_AT", count: 40)], tags: ["en"]),
  ]

  @Test(arguments: rows) func tagsComeInTheOrderOfGettext(row: Row) {
    #expect(PreferredLanguage.list { row.variables[$0] }.map(\.tag) == row.tags)
  }

  @Test func englishHasTheDocumentedValues() throws {
    func list(_ words: String...) -> PropertyListValue { .array(words.map { .string($0) }) }
    let english = Fixture().list(languages: ["C"])
    #expect(
      english.volatileDomain(forName: "en") == [
        "NSAMPMDesignation": list("AM", "PM"),
        "NSDateFormatString": "%A, %B %d, %Y",
        "NSDateTimeOrdering": "MDYH",
        "NSEarlierTimeDesignations": list("prior", "last", "past", "ago"),
        "NSLaterTimeDesignations": list("next"),
        "NSHourNameDesignations": .array([
          list("0", "midnight"), list("10", "morning"), list("12", "noon", "lunch"), list("14", "afternoon"),
          list("19", "dinner"),
        ]),
        "NSMonthNameArray": list(
          "January", "February", "March", "April", "May", "June", "July", "August", "September", "October",
          "November", "December"),
        "NSShortMonthNameArray": list(
          "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"),
        "NSWeekDayNameArray": list(
          "Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"),
        "NSShortWeekDayNameArray": list("Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"),
        "NSNextDayDesignations": list("tomorrow"),
        "NSNextNextDayDesignations": list("nextday"),
        "NSPriorDayDesignations": list("yesterday"),
        "NSThisDayDesignations": list("today", "now"),
        "NSShortDateFormatString": "%d/%m/%y",
        "NSShortTimeDateFormatString": "%d-%b-%y %-I:%M %p",
        "NSTimeDateFormatString": "%A, %B %d, %Y %H:%M:%S %Z",
        "NSTimeFormatString": "%-I:%M:%S %p",
        "NSYearMonthWeekDesignations": list("year", "month", "week"),
        "NSCurrencySymbol": "$",
        "NSDecimalDigits": list("0", "1", "2", "3", "4", "5", "6", "7", "8", "9"),
        "NSDecimalSeparator": ".",
        "NSThousandsSeparator": ",",
        "NSInternationalCurrencyString": "USD",
        "NSPositiveCurrencyFormatString": "$9,999.00",
        "NSNegativeCurrencyFormatString": "-$9,999.00",
        "NSLanguages": list("en"),
        "AppleLanguages": list("en"),
      ])
    #expect(Set(try #require(english.volatileDomain(forName: "en")).keys) == LanguageKey.names)
  }

  @Test func aLanguageWithoutALocaleHasItsPlaceAndEnglishAnswers() {
    let list = Fixture().list(languages: ["xx_YY.UTF-8"])
    #expect(list.volatileDomainNames == ["NSArgumentDomain", "NSRegistrationDomain", "en", "xx-YY"])
    #expect(list.stringArray("NSLanguages") == ["xx-YY", "en"])
    #expect(list.stringArray("AppleLanguages") == ["xx-YY", "en"])
    #expect(list.string("NSDecimalSeparator") == ".")
    #expect(list.volatileDomain(forName: "xx-YY").map { $0.keys.sorted() } == ["AppleLanguages", "NSLanguages"])
  }

  @Test func theDomainsAreMadeWhenOneOfTheirKeysIsAskedFor() {
    let list = Fixture().list(languages: ["C"])
    func isThere() -> Bool { list.state.hasLanguages.load(ordering: .relaxed) }
    list.register(["NSObject": 1])
    #expect(list.value("NSNothing") == nil)
    #expect(list.string("AppleSomething") == nil)
    #expect(!list.bool("key"))
    #expect(!isThere())
    #expect(list.array("NSAMPMDesignation") == ["AM", "PM"])
    #expect(isThere())
    for read in [
      { $0.string("NSCurrencySymbol") == "$" }, { $0.value("NSDecimalSeparator") == "." },
      { !$0.bool("NSCurrencySymbol") && $0.integer("NSCurrencySymbol") == 0 && $0.double("NSDecimalSeparator") == 0 },
      { $0.dictionaryRepresentation().count == 28 },
    ] as [(SearchList) -> Bool] {
      #expect(read(Fixture().list(languages: ["C"])))
    }
  }

  @Test(arguments: [false, true]) func makingThemIsNoChange(byRegistering: Bool) {
    let list = Fixture().list(languages: ["C"])
    let heard = Heard()
    let subscription = list.onChange(heard.note)
    if byRegistering {
      var registered: [String: PropertyListValue] = ["NSCurrencySymbol": "registered", "own": 1]
      for number in 0..<100 { registered["k\(number)"] = 1 }
      list.register(registered)
      #expect(heard.all.map(\.keys.count) == [101])
    }
    #expect(list.string("NSCurrencySymbol") == "$")
    #expect(list.string("NSDecimalSeparator") == ".")
    #expect(heard.all.count == (byRegistering ? 1 : 0))
    subscription.cancel()
  }

  @Test(arguments: [false, true]) func theirPlaceIsBeforeRecommendedAndRegistered(many: Bool) {
    let fixture = Fixture()
    fixture.install([Fixture.Line(key: "NSCurrencySymbol", value: "policy", section: .recommended)])
    var registered: [String: PropertyListValue] = ["NSDecimalSeparator": "registered", "own": 1]
    if many { for number in 0..<100 { registered["k\(number)"] = 1 } }
    let list = fixture.list(languages: ["C"])
    list.register(registered)
    #expect(list.string("NSCurrencySymbol") == "$")
    #expect(list.string("NSDecimalSeparator") == ".")
    list.set("mine", forKey: "NSDecimalSeparator")
    #expect(list.string("NSDecimalSeparator") == "mine")
    list.removeValue(forKey: "NSDecimalSeparator")
    #expect(list.string("NSDecimalSeparator") == ".")
    list.removeVolatileDomain(forName: "en")
    #expect(list.string("NSCurrencySymbol") == "policy")
    #expect(list.string("NSDecimalSeparator") == "registered")
    #expect(!list.volatileDomainNames.contains("en"))
    #expect(list.setVolatileDomain(["NSCurrencySymbol": "¤"], forName: "en"))
    #expect(list.string("NSCurrencySymbol") == "¤")
    #expect(list.volatileDomain(forName: "en") == ["NSCurrencySymbol": "¤"])
  }

  @Test func theCLibrarysOwnLocale() {
    // There is one in UTF-8 on every machine.
    let values = LocaleData.values(ofLocale: "C.UTF-8")
    #expect(values["NSShortDateFormatString"] == "%m/%d/%y")
    #expect(values["NSDateTimeOrdering"] == "MDYH")
    #expect(values["NSTimeFormatString"] == "%H:%M:%S")
    #expect(values["NSWeekDayNameArray"]?.stringArrayValue?.first == "Sunday")
    #expect(values["NSDecimalSeparator"] == ".")
    #expect(values["NSCurrencySymbol"] == nil, "there is none, so a search goes on")
    #expect(LocaleData.values(ofLocale: "xx_YY") == [:])
  }

  @Test(arguments: [
    ("%d.%m.%Y", "DMYH"), ("%m/%d/%y", "MDYH"), ("%Y-%m-%d", "YMDH"), ("%F", "YMDH"), ("%-d. %B %EY", "DMYH"),
    ("%d/%m", ""), ("%d%%m%Y", ""), ("", ""),
  ])
  func theOrderOfADatesNumbers(format: String, ordering: String) {
    #expect(LocaleData.ordering(ofDateFormat: format) == ordering)
  }

  /// German, compiled for the test where the machine has the sources of locales.
  @Test func anotherLanguagesLocale() async throws {
    let fixture = Fixture()
    let folder = fixture.directory + "/locales"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    _ = try? StartedProgram(
      ["localedef", "-i", "de_DE", "-f", "UTF-8", folder + "/de_DE.UTF-8"], errors: .nothing
    ).wait()
    guard FileManager.default.fileExists(atPath: folder + "/de_DE.UTF-8/LC_TIME") else {
      print("SKIPPED: no localedef, or no sources of locales, to make a German locale with")
      return
    }
    await #expect(processExitsWith: .success) { [folder = folder as String, directory = fixture.directory as String] in
      setenv("LOCPATH", folder, 1)
      // The region of a bare language is the country of the same letters.
      for locale in ["de_DE.UTF-8", "de_DE", "de"] {
        let list = Fixture(in: directory).list(languages: [locale])
        #expect(list.stringArray("NSMonthNameArray")?.prefix(3) == ["Januar", "Februar", "März"])
        #expect(list.stringArray("NSShortWeekDayNameArray")?.first == "So")
        #expect(list.string("NSDecimalSeparator") == ",")
        #expect(list.string("NSThousandsSeparator") == ".")
        #expect(list.string("NSDateTimeOrdering") == "DMYH")
        #expect(list.string("NSCurrencySymbol") == "€")
        #expect(list.string("NSInternationalCurrencyString") == "EUR")
        #expect(list.string("NSPositiveCurrencyFormatString") == "9.999,00 €")
        #expect(list.string("NSNegativeCurrencyFormatString") == "-9.999,00 €")
        #expect(list.stringArray("NSNextDayDesignations") == ["tomorrow"], "from English")
        #expect(list.stringArray("NSAMPMDesignation") == ["AM", "PM"], "German has none")
      }
    }
  }
}
