package io.millrace.server.config;

import java.util.Collection;
import org.jspecify.annotations.Nullable;

/** The edit distance of two words, to suggest a correction. */
public final class EditDistance {
  private EditDistance() {}

  /** The candidate that takes the fewest edits; null if there are none. */
  public static @Nullable String nearest(String word, Collection<String> candidates) {
    String nearest = null;
    int least = Integer.MAX_VALUE;
    for (String candidate : candidates) {
      int distance = between(word, candidate);
      if (distance < least) {
        least = distance;
        nearest = candidate;
      }
    }
    return nearest;
  }

  /**
   * What was probably meant: the nearest candidate if it is like the word, for example one letter
   * away from it, or longer by its end; null if none is.
   */
  public static @Nullable String suggestion(String word, Collection<String> candidates) {
    String near = nearest(word, candidates);
    if (near == null) {
      return null;
    }
    int distance = between(word, near);
    boolean alike =
        near.startsWith(word)
            || (distance < word.length() && distance <= Math.max(1, word.length() / 3));
    return alike ? near : null;
  }

  /** The number of letters to insert, remove, replace or swap with a neighbour. */
  public static int between(String a, String b) {
    int[] beforeLast = new int[b.length() + 1];
    int[] last = new int[b.length() + 1];
    for (int j = 0; j <= b.length(); j++) {
      last[j] = j;
    }
    for (int i = 1; i <= a.length(); i++) {
      int[] row = new int[b.length() + 1];
      row[0] = i;
      for (int j = 1; j <= b.length(); j++) {
        int same = a.charAt(i - 1) == b.charAt(j - 1) ? 0 : 1;
        int least = Math.min(Math.min(row[j - 1], last[j]) + 1, last[j - 1] + same);
        if (i > 1
            && j > 1
            && a.charAt(i - 1) == b.charAt(j - 2)
            && a.charAt(i - 2) == b.charAt(j - 1)) {
          least = Math.min(least, beforeLast[j - 2] + 1);
        }
        row[j] = least;
      }
      beforeLast = last;
      last = row;
    }
    return last[b.length()];
  }
}
