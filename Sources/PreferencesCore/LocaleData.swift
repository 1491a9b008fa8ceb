import Glibc
import PropertyList

/// What a locale of the C library says of the keys of a language domain.
enum LocaleData {
  /// The values of the first of the locale's spellings that is installed and in UTF-8; nothing where there is none.
  ///
  /// The C library knows names, formats, separators and the currency. For the rest (words such as *tomorrow*) a search
  /// goes on to the next language.
  static func values(ofLocale name: String) -> [String: PropertyListValue] {
    for spelling in spellings(of: name) {
      guard let locale = newlocale(categories, spelling, nil) else { continue }
      defer { freelocale(locale) }
      let data = OpenLocale(locale: locale)
      if data.text(CODESET) == "UTF-8" { return data.values }
    }
    return [:]
  }

  private static let categories = Int32(1 << LC_CTYPE | 1 << LC_TIME | 1 << LC_NUMERIC | 1 << LC_MONETARY)

  /// `DMYH` of `%d.%m.%Y`: the order in which a date's numbers are read.
  static func ordering(ofDateFormat format: String) -> String {
    var order = ""
    var isDirective = false
    for letter in format {
      if isDirective, "EO-_0^#".contains(letter) { continue }
      if isDirective {
        switch letter {
        case "d", "e": order += "D"
        case "m", "b", "B", "h": order += "M"
        case "y", "Y", "C", "G": order += "Y"
        case "D": order += "MDY"
        case "F": order += "YMD"
        default: break
        }
      }
      isDirective = !isDirective && letter == "%"
    }
    return Set(order).count == 3 && order.count == 3 ? order + "H" : ""
  }

  /// The locale itself, the same in UTF-8, and for a bare language the country of the same letters: `de` is `de_DE`.
  private static func spellings(of name: String) -> [String] {
    let parts = name.split(separator: "@", maxSplits: 1)
    let base = parts[0].split(separator: ".")[0].split(separator: "-").joined(separator: "_")
    let modifier = parts.count == 2 ? "@" + parts[1] : ""
    let whole = base.contains("_") ? base : "\(base)_\(base.uppercased())"
    return [name, "\(base).UTF-8\(modifier)", "\(whole).UTF-8\(modifier)"]
  }
}

private struct OpenLocale {
  let locale: locale_t

  func text(_ item: Int) -> String {
    guard let text = nl_langinfo_l(nl_item(item), locale) else { return "" }
    return String(cString: text)
  }

  private func texts(_ items: [Int]) -> [String] { items.map(text) }

  /// Items that hold a byte, CHAR_MAX for "not said".
  private func byte(_ item: Int) -> Int8 { nl_langinfo_l(nl_item(item), locale)?.pointee ?? .max }

  var values: [String: PropertyListValue] {
    var result: [String: PropertyListValue] = [:]
    func put(_ key: LanguageKey, _ value: String) { if !value.isEmpty { result[key.rawValue] = .string(value) } }
    func put(_ key: LanguageKey, _ values: [String]) {
      if !values.contains("") { result[key.rawValue] = .array(values.map { .string($0) }) }
    }
    put(.weekDayNameArray, texts([DAY_1, DAY_2, DAY_3, DAY_4, DAY_5, DAY_6, DAY_7]))
    put(.shortWeekDayNameArray, texts([ABDAY_1, ABDAY_2, ABDAY_3, ABDAY_4, ABDAY_5, ABDAY_6, ABDAY_7]))
    put(
      .monthNameArray,
      texts([MON_1, MON_2, MON_3, MON_4, MON_5, MON_6, MON_7, MON_8, MON_9, MON_10, MON_11, MON_12]))
    put(
      .shortMonthNameArray,
      texts([
        ABMON_1, ABMON_2, ABMON_3, ABMON_4, ABMON_5, ABMON_6, ABMON_7, ABMON_8, ABMON_9, ABMON_10, ABMON_11, ABMON_12,
      ]))
    put(.amPMDesignation, texts([AM_STR, PM_STR]))
    put(.timeDateFormatString, text(D_T_FMT))
    put(.shortDateFormatString, text(D_FMT))
    put(.timeFormatString, text(T_FMT))
    put(.shortTimeDateFormatString, [text(D_FMT), text(T_FMT)].joined(separator: " "))
    put(.dateTimeOrdering, LocaleData.ordering(ofDateFormat: text(D_FMT)))
    put(
      .decimalDigits,
      texts([
        _NL_CTYPE_OUTDIGIT0_MB, _NL_CTYPE_OUTDIGIT1_MB, _NL_CTYPE_OUTDIGIT2_MB, _NL_CTYPE_OUTDIGIT3_MB,
        _NL_CTYPE_OUTDIGIT4_MB, _NL_CTYPE_OUTDIGIT5_MB, _NL_CTYPE_OUTDIGIT6_MB, _NL_CTYPE_OUTDIGIT7_MB,
        _NL_CTYPE_OUTDIGIT8_MB, _NL_CTYPE_OUTDIGIT9_MB,
      ]))
    put(.decimalSeparator, text(RADIXCHAR))
    put(.thousandsSeparator, text(THOUSEP))
    let symbol = text(__CURRENCY_SYMBOL)
    put(.currencySymbol, symbol)
    put(.internationalCurrencyString, String(text(__INT_CURR_SYMBOL).prefix(3)))
    if !symbol.isEmpty {
      let amount = "9\(text(__MON_THOUSANDS_SEP))999\(text(__MON_DECIMAL_POINT))00"
      let space = byte(__P_SEP_BY_SPACE) == 0 ? "" : " "
      let format = byte(__P_CS_PRECEDES) == 0 ? amount + space + symbol : symbol + space + amount
      put(.positiveCurrencyFormatString, format)
      put(.negativeCurrencyFormatString, "-" + format)
    }
    return result
  }
}
