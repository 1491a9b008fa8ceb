/// The keys of the language domains, which name what they hold: the deprecated language and number constants of
/// `NSUserDefaults`, and the two lists of languages.
public enum LanguageKey: String, CaseIterable, Sendable {
  case amPMDesignation = "NSAMPMDesignation"
  case dateFormatString = "NSDateFormatString"
  case dateTimeOrdering = "NSDateTimeOrdering"
  case earlierTimeDesignations = "NSEarlierTimeDesignations"
  case hourNameDesignations = "NSHourNameDesignations"
  case laterTimeDesignations = "NSLaterTimeDesignations"
  case monthNameArray = "NSMonthNameArray"
  case nextDayDesignations = "NSNextDayDesignations"
  case nextNextDayDesignations = "NSNextNextDayDesignations"
  case priorDayDesignations = "NSPriorDayDesignations"
  case shortDateFormatString = "NSShortDateFormatString"
  case shortMonthNameArray = "NSShortMonthNameArray"
  case shortTimeDateFormatString = "NSShortTimeDateFormatString"
  case shortWeekDayNameArray = "NSShortWeekDayNameArray"
  case thisDayDesignations = "NSThisDayDesignations"
  case timeDateFormatString = "NSTimeDateFormatString"
  case timeFormatString = "NSTimeFormatString"
  case weekDayNameArray = "NSWeekDayNameArray"
  case yearMonthWeekDesignations = "NSYearMonthWeekDesignations"

  case currencySymbol = "NSCurrencySymbol"
  case decimalDigits = "NSDecimalDigits"
  case decimalSeparator = "NSDecimalSeparator"
  case internationalCurrencyString = "NSInternationalCurrencyString"
  case negativeCurrencyFormatString = "NSNegativeCurrencyFormatString"
  case positiveCurrencyFormatString = "NSPositiveCurrencyFormatString"
  case thousandsSeparator = "NSThousandsSeparator"

  case languages = "NSLanguages"
  case appleLanguages = "AppleLanguages"

  static let names = Set(allCases.map(\.rawValue))

  /// Whether language domains may hold a key of this name. All but a few keys fail at the first two bytes.
  static func mayBe(_ key: UnsafeRawBufferPointer) -> Bool {
    guard key.count >= 11 else { return false }
    switch (key[0], key[1]) {
    case (UInt8(ascii: "N"), UInt8(ascii: "S")), (UInt8(ascii: "A"), UInt8(ascii: "p")):
      return names.contains(String(decoding: key, as: UTF8.self))
    default: return false
    }
  }
}
