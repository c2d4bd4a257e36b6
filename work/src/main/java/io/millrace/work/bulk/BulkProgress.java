package io.millrace.work.bulk;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * How far a bulk action is. Immutable.
 *
 * @param after up to where all items have been visited; empty before the first
 * @param done how many items were changed
 * @param skipped how many items were left alone, by reason
 * @param examples the first of these
 */
public record BulkProgress(
    String after, long done, Map<String, Long> skipped, List<Skip> examples) {
  /** Before the first item. */
  public static final BulkProgress NONE = new BulkProgress("", 0, Map.of(), List.of());

  /** How many items are named that were left alone. */
  public static final int MAX_EXAMPLES = 100;

  /** How many reasons are counted apart. */
  static final int MAX_REASONS = 20;

  static final String OTHER_REASONS = "other reasons";

  private static final int MAX_CHARS = 300;

  /** With reasons in alphabetical order. */
  public BulkProgress {
    skipped = Collections.unmodifiableMap(new TreeMap<>(skipped));
    examples = List.copyOf(examples);
  }

  /**
   * An item that was left alone.
   *
   * @param id its id
   * @param reason why, without its id, so that items with the same reason are counted together
   */
  public record Skip(String id, String reason) {
    /** Shortens the reason. */
    public Skip {
      reason = reason.length() > MAX_CHARS ? reason.substring(0, MAX_CHARS) + "…" : reason;
    }
  }

  /** How many items were left alone. */
  public long skips() {
    return skipped.values().stream().mapToLong(Long::longValue).sum();
  }

  /**
   * After another batch.
   *
   * @param reached up to where all items have been visited
   * @param changed how many items were changed
   * @param left the items that were left alone
   */
  public BulkProgress plus(String reached, int changed, List<Skip> left) {
    Map<String, Long> reasons = new TreeMap<>(skipped);
    List<Skip> named = new ArrayList<>(examples);
    for (Skip skip : left) {
      boolean known = reasons.containsKey(skip.reason()) || reasons.size() < MAX_REASONS;
      reasons.merge(known ? skip.reason() : OTHER_REASONS, 1L, Long::sum);
      if (named.size() < MAX_EXAMPLES) {
        named.add(skip);
      }
    }
    return new BulkProgress(reached, done + changed, reasons, named);
  }
}
