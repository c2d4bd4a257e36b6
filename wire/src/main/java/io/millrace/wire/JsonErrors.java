package io.millrace.wire;

import java.util.regex.Pattern;
import tools.jackson.core.JacksonException;
import tools.jackson.core.TokenStreamLocation;

/**
 * Error messages for the sender of a malformed JSON text: those of Jackson, without the parts that
 * only its programmers understand.
 */
public final class JsonErrors {
  /** Source locations inside Jackson's messages, which contain no useful information. */
  private static final Pattern LOCATION =
      Pattern.compile(
          "\\s*\\((?:start marker )?at \\[Source: [^\\]]*\\]\\)|\\s*\\[Source: [^\\]]*\\]");

  /** Hints at settings of Jackson that would allow the input. */
  private static final Pattern SETTING =
      Pattern.compile(
          ", from `[^`]*`|: enable `[^`]*` to allow|\\s*\\([^()]* Feature '[^']*' not"
              + " enabled[^()]*\\)");

  private JsonErrors() {}

  /** What is wrong, with its line and column, both counted from 1. */
  public static String message(JacksonException error) {
    return JsonText.wellFormed(withoutLocation(error) + location(error.getLocation()));
  }

  /** What is wrong, without line and column, for callers that add their own location. */
  public static String withoutLocation(JacksonException error) {
    String message = LOCATION.matcher(String.valueOf(error.getOriginalMessage())).replaceAll("");
    return SETTING.matcher(message).replaceAll("");
  }

  private static String location(TokenStreamLocation location) {
    return location == null || location.getLineNr() < 1
        ? ""
        : " (line " + location.getLineNr() + ", column " + location.getColumnNr() + ")";
  }
}
