// The names are the reference's own.
// swift-format-ignore-file: AlwaysUseLowerCamelCase

internal import PreferencesCore

// The keys of `NSUserDefaults` for dates, times and numbers in the user's language, under their own names, which are also
// their values. They are read from the language domains of the search list, and deprecated since Mac OS X 10.5.

// MARK: Dates and times

/// The key of how morning and afternoon are printed (`%p`): two strings.
@available(*, deprecated, message: "use DateFormatter.amSymbol and pmSymbol")
public let NSAMPMDesignation = LanguageKey.amPMDesignation.rawValue

/// The key of how dates are printed.
@available(*, deprecated, message: "use DateFormatter")
public let NSDateFormatString = LanguageKey.dateFormatString.rawValue

/// The key of how ambiguous numbers in dates are read: a permutation of the letters M, D, Y and H.
@available(*, deprecated, message: "use DateFormatter")
public let NSDateTimeOrdering = LanguageKey.dateTimeOrdering.rawValue

/// The key of words for a time in the past.
@available(*, deprecated, message: "use a strings file")
public let NSEarlierTimeDesignations = LanguageKey.earlierTimeDesignations.rawValue

/// The key of names of hours: arrays of an hour and its names.
@available(*, deprecated, message: "use a strings file")
public let NSHourNameDesignations = LanguageKey.hourNameDesignations.rawValue

/// The key of words for a time in the future.
@available(*, deprecated, message: "use a strings file")
public let NSLaterTimeDesignations = LanguageKey.laterTimeDesignations.rawValue

/// The key of the names of the months (`%B`).
@available(*, deprecated, message: "use DateFormatter.monthSymbols")
public let NSMonthNameArray = LanguageKey.monthNameArray.rawValue

/// The key of words for the day after today.
@available(*, deprecated, message: "use a strings file")
public let NSNextDayDesignations = LanguageKey.nextDayDesignations.rawValue

/// The key of words for the day after tomorrow.
@available(*, deprecated, message: "use a strings file")
public let NSNextNextDayDesignations = LanguageKey.nextNextDayDesignations.rawValue

/// The key of words for the day before today.
@available(*, deprecated, message: "use a strings file")
public let NSPriorDayDesignations = LanguageKey.priorDayDesignations.rawValue

/// The key of how dates are abbreviated.
@available(*, deprecated, message: "use DateFormatter")
public let NSShortDateFormatString = LanguageKey.shortDateFormatString.rawValue

/// The key of the abbreviations of the months (`%b`).
@available(*, deprecated, message: "use DateFormatter.shortMonthSymbols")
public let NSShortMonthNameArray = LanguageKey.shortMonthNameArray.rawValue

/// The key of how times with dates are abbreviated.
@available(*, deprecated, message: "use DateFormatter")
public let NSShortTimeDateFormatString = LanguageKey.shortTimeDateFormatString.rawValue

/// The key of the abbreviations of the days of the week (`%a`), Sunday first.
@available(*, deprecated, message: "use DateFormatter.shortWeekdaySymbols")
public let NSShortWeekDayNameArray = LanguageKey.shortWeekDayNameArray.rawValue

/// The key of words for this day.
@available(*, deprecated, message: "use a strings file")
public let NSThisDayDesignations = LanguageKey.thisDayDesignations.rawValue

/// The key of how dates with times are printed (`%c`).
@available(*, deprecated, message: "use DateFormatter")
public let NSTimeDateFormatString = LanguageKey.timeDateFormatString.rawValue

/// The key of how times are printed.
@available(*, deprecated, message: "use DateFormatter")
public let NSTimeFormatString = LanguageKey.timeFormatString.rawValue

/// The key of the names of the days of the week (`%A`), Sunday first.
@available(*, deprecated, message: "use DateFormatter.weekdaySymbols")
public let NSWeekDayNameArray = LanguageKey.weekDayNameArray.rawValue

/// The key of words for year, month and week.
@available(*, deprecated, message: "use a strings file")
public let NSYearMonthWeekDesignations = LanguageKey.yearMonthWeekDesignations.rawValue

// MARK: Numbers and money

/// The key of the symbol of the currency.
@available(*, deprecated, message: "use NumberFormatter.currencySymbol")
public let NSCurrencySymbol = LanguageKey.currencySymbol.rawValue

/// The key of the decimal digits beside, or instead of, those of ASCII.
@available(*, deprecated, message: "use NumberFormatter")
public let NSDecimalDigits = LanguageKey.decimalDigits.rawValue

/// The key of what separates ones from tenths.
@available(*, deprecated, message: "use NumberFormatter.decimalSeparator")
public let NSDecimalSeparator = LanguageKey.decimalSeparator.rawValue

/// The key of the currency's three letters of ISO 4217.
@available(*, deprecated, message: "use Locale.currency")
public let NSInternationalCurrencyString = LanguageKey.internationalCurrencyString.rawValue

/// The key of how negative amounts of money are printed.
@available(*, deprecated, message: "use NumberFormatter")
public let NSNegativeCurrencyFormatString = LanguageKey.negativeCurrencyFormatString.rawValue

/// The key of how amounts of money are printed.
@available(*, deprecated, message: "use NumberFormatter")
public let NSPositiveCurrencyFormatString = LanguageKey.positiveCurrencyFormatString.rawValue

/// The key of what separates thousands.
@available(*, deprecated, message: "use NumberFormatter.groupingSeparator")
public let NSThousandsSeparator = LanguageKey.thousandsSeparator.rawValue
