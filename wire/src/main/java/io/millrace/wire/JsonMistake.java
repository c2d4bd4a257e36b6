package io.millrace.wire;

import java.util.regex.Pattern;
import tools.jackson.core.JacksonException;
import tools.jackson.core.TokenStreamLocation;

/** What is wrong with a JSON text, in words for its sender. */
public final class JsonMistake {
  /**
   * How the library speaks of places inside its messages, of which it only says that it hides them.
   */
  private static final Pattern PLACE =
      Pattern.compile(
          "\\s*\\((?:start marker )?at \\[Source: [^\\]]*\\]\\)|\\s*\\[Source: [^\\]]*\\]");

  /** What the library says to its programmers: settings that would allow it. */
  private static final Pattern SETTING =
      Pattern.compile(
          ", from `[^`]*`|: enable `[^`]*` to allow|\\s*\\([^()]* Feature '[^']*' not"
              + " enabled[^()]*\\)");

  private JsonMistake() {}

  /** What is wrong, and the line and column where that was found; both count from 1. */
  public static String words(JacksonException mistake) {
    String what = withoutPlace(mistake) + place(mistake.getLocation());
    return JsonText.whole(what);
  }

  /** What is wrong, without the place, for callers that add the place themselves. */
  public static String withoutPlace(JacksonException mistake) {
    String words = PLACE.matcher(String.valueOf(mistake.getOriginalMessage())).replaceAll("");
    return SETTING.matcher(words).replaceAll("");
  }

  private static String place(TokenStreamLocation found) {
    return found == null || found.getLineNr() < 1
        ? ""
        : " (line " + found.getLineNr() + ", column " + found.getColumnNr() + ")";
  }
}
