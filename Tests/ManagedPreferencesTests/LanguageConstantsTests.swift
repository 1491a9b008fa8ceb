import Foundation
import Testing

@testable import ManagedPreferences

/// The deprecated constants for the language domains. (Through a protocol, so that this target uses nothing deprecated.)
@Suite struct LanguageConstantsTests {
  private func all<Constants: NamedConstants>(_ type: Constants.Type) -> [String: String] { Constants.all }

  @Test func theirNamesAreTheirValues() {
    let constants = all(LanguageConstants.self)
    #expect(constants.count == 26)
    for (name, value) in constants { #expect(name == value) }
  }

  @Test func eachHasAValueInEnglish() throws {
    let defaults = try Sandbox().defaults(languages: ["C"])
    for name in all(LanguageConstants.self).values { #expect(defaults.object(forKey: name) != nil, "\(name)") }
    #expect(defaults.stringArray(forKey: "NSLanguages") == ["en"])
    #expect(defaults.stringArray(forKey: "NSAMPMDesignation") == ["AM", "PM"])
    #expect(defaults.string(forKey: "NSDecimalSeparator") == ".")
    #expect(
      defaults.array(forKey: "NSHourNameDesignations") as? [[String]] == [
        ["0", "midnight"], ["10", "morning"], ["12", "noon", "lunch"], ["14", "afternoon"], ["19", "dinner"],
      ])
    #expect(defaults.dictionaryRepresentation()["NSCurrencySymbol"] as? String == "$")
  }

  @Test func theNamesOfTheDomains() {
    #expect(ManagedDefaults.globalDomain == "NSGlobalDomain")
    #expect(ManagedDefaults.argumentDomain == "NSArgumentDomain")
    #expect(ManagedDefaults.registrationDomain == "NSRegistrationDomain")
  }
}

private protocol NamedConstants {
  static var all: [String: String] { get }
}

private enum LanguageConstants: NamedConstants {
  @available(*, deprecated)
  static var all: [String: String] {
    [
      "NSAMPMDesignation": NSAMPMDesignation,
      "NSDateFormatString": NSDateFormatString,
      "NSDateTimeOrdering": NSDateTimeOrdering,
      "NSEarlierTimeDesignations": NSEarlierTimeDesignations,
      "NSHourNameDesignations": NSHourNameDesignations,
      "NSLaterTimeDesignations": NSLaterTimeDesignations,
      "NSMonthNameArray": NSMonthNameArray,
      "NSNextDayDesignations": NSNextDayDesignations,
      "NSNextNextDayDesignations": NSNextNextDayDesignations,
      "NSPriorDayDesignations": NSPriorDayDesignations,
      "NSShortDateFormatString": NSShortDateFormatString,
      "NSShortMonthNameArray": NSShortMonthNameArray,
      "NSShortTimeDateFormatString": NSShortTimeDateFormatString,
      "NSShortWeekDayNameArray": NSShortWeekDayNameArray,
      "NSThisDayDesignations": NSThisDayDesignations,
      "NSTimeDateFormatString": NSTimeDateFormatString,
      "NSTimeFormatString": NSTimeFormatString,
      "NSWeekDayNameArray": NSWeekDayNameArray,
      "NSYearMonthWeekDesignations": NSYearMonthWeekDesignations,
      "NSCurrencySymbol": NSCurrencySymbol,
      "NSDecimalDigits": NSDecimalDigits,
      "NSDecimalSeparator": NSDecimalSeparator,
      "NSInternationalCurrencyString": NSInternationalCurrencyString,
      "NSNegativeCurrencyFormatString": NSNegativeCurrencyFormatString,
      "NSPositiveCurrencyFormatString": NSPositiveCurrencyFormatString,
      "NSThousandsSeparator": NSThousandsSeparator,
    ]
  }
}
