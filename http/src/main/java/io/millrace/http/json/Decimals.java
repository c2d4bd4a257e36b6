package io.millrace.http.json;

import java.math.BigDecimal;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonParser;
import tools.jackson.core.exc.StreamReadException;
import tools.jackson.databind.node.DecimalNode;
import tools.jackson.databind.node.JsonNodeFactory;

/**
 * Fractions with all their digits, as they were written but for the spelling of the exponent, which
 * is limited: beyond some millions it could not be read again, and arithmetic on it takes for ever.
 */
public final class Decimals extends JsonNodeFactory {
  private static final long serialVersionUID = 1;
  private static final int MOST_EXPONENT = 9_999;
  private static final String TOO_LARGE =
      "a number has an exponent beyond " + MOST_EXPONENT + ", which cannot be kept";

  @Override
  public DecimalNode numberNode(@Nullable BigDecimal value) {
    check(value, null);
    return (DecimalNode) super.numberNode(value);
  }

  /**
   * Checks the number that a parser stands on.
   *
   * @throws StreamReadException if it cannot be kept
   */
  public static void check(JsonParser json) {
    try {
      check(json.getDecimalValue(), json);
    } catch (NumberFormatException e) {
      throw new StreamReadException(json, TOO_LARGE, e);
    }
  }

  private static void check(@Nullable BigDecimal value, @Nullable JsonParser json) {
    if (value != null && Math.abs((long) value.precision() - value.scale()) > MOST_EXPONENT) {
      throw new StreamReadException(json, TOO_LARGE);
    }
  }

  static JacksonException tooLarge(NumberFormatException e) {
    return new StreamReadException(null, TOO_LARGE, e);
  }
}
