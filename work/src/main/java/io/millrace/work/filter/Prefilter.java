package io.millrace.work.filter;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Locale;
import java.util.function.Predicate;
import java.util.function.UnaryOperator;
import java.util.regex.Pattern;
import tools.jackson.databind.JsonNode;

/**
 * Rules documents out by a search in their JSON text, which takes a small part of the time that it
 * takes to parse them. What it lets pass may match or not: the filter itself decides.
 */
public final class Prefilter {
  private static final Predicate<String> ALL = _ -> true;

  /** What JSON, or the writer of a document, may write in another form. */
  private static final Pattern ESCAPED = Pattern.compile("[^ -~]|[\"\\\\{}/<>&']");

  private Prefilter() {}

  /**
   * Returns a predicate on the JSON text of a document, which holds if the filter can match it.
   *
   * @param isWritten the fields whose values, if they are text, are in the document as they are
   * @param written a text as it is written in documents, with its quotes
   */
  public static Predicate<String> of(
      Filter filter, Predicate<String> isWritten, UnaryOperator<String> written) {
    return switch (filter) {
      case Filter.Every(List<Filter> parts) ->
          parts.stream()
              .map(part -> of(part, isWritten, written))
              .reduce(
                  ALL, (one, other) -> one == ALL ? other : other == ALL ? one : one.and(other));
      case Filter.Any(List<Filter> parts) -> any(parts, isWritten, written);
      case Filter.OfField(FieldPath path, Condition condition) ->
          isWritten.test(path.steps().getFirst()) ? of(condition, written) : ALL;
    };
  }

  private static Predicate<String> any(
      List<Filter> parts, Predicate<String> isWritten, UnaryOperator<String> written) {
    List<Predicate<String>> each =
        parts.stream().map(part -> of(part, isWritten, written)).toList();
    return each.contains(ALL) ? ALL : each.stream().reduce(Predicate::or).orElse(ALL);
  }

  private static Predicate<String> of(Condition condition, UnaryOperator<String> written) {
    return switch (condition) {
      case Condition.OneOf(List<JsonNode> wanted)
          when wanted.stream().allMatch(Prefilter::isText) -> {
        List<String> texts = wanted.stream().map(JsonNode::asString).map(written).toList();
        yield json -> texts.stream().anyMatch(json::contains);
      }
      case Condition.Contains(String text) -> {
        String part = longestPlain(text);
        yield part.isEmpty() ? ALL : json -> json.toLowerCase(Locale.ROOT).contains(part);
      }
      case Condition.OneOf _, Condition.Compared _, Condition.Exists _, Condition.Not _ -> ALL;
    };
  }

  /** Whether it is a text that can be written: half a pair of surrogates cannot. */
  private static boolean isText(JsonNode value) {
    return value.isString() && StandardCharsets.UTF_8.newEncoder().canEncode(value.asString());
  }

  /** The longest part of a text that is written as it is in any JSON. */
  private static String longestPlain(String text) {
    String longest = "";
    for (String part : ESCAPED.split(text)) {
      longest = part.length() > longest.length() ? part : longest;
    }
    return longest;
  }
}
