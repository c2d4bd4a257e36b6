package io.millrace.work.policy;

import io.millrace.store.Sha256;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * By what work is unique, and for how long: a submission with the same key as work that holds it is
 * a duplicate. Unique is not "one at a time": a limit does that.
 *
 * @param key the key; null if it is made of {@code fields}
 * @param fields the names of the params that make the key; empty if {@code key} is given
 * @param scope in which states the work holds its key; without effect if there is a period
 * @param period how long it holds its key, from its submission, whatever its state is; null for as
 *     long as the scope says
 */
public record UniqueKey(
    @Nullable String key, List<String> fields, Scope scope, @Nullable Duration period) {
  /** The most characters of a key. */
  static final int MAX_KEY = 256;

  /** Copies the fields. */
  public UniqueKey {
    fields = List.copyOf(fields);
  }

  /**
   * What stands for the key of a piece of work: 64 hexadecimal digits.
   *
   * @param json gives the value of a param as JSON, null if it is absent
   */
  public String hash(Function<String, @Nullable String> json) {
    if (key != null) {
      return Sha256.hex("key " + key);
    }
    StringBuilder text = new StringBuilder("fields");
    for (String name : fields) {
      String value = Objects.requireNonNullElse(json.apply(name), "absent");
      // With their lengths, so that no two lists of values look alike.
      text.append(' ').append(name.length()).append(' ').append(name);
      text.append(' ').append(value.length()).append(' ').append(value);
    }
    return Sha256.hex(text.toString());
  }

  /** The states in which work holds its key. */
  public enum Scope {
    /** Until it starts. */
    QUEUED,
    /** Until it has ended, its retries included. */
    UNFINISHED;

    /** The word for it. */
    public String word() {
      return name().toLowerCase(Locale.ROOT);
    }

    /** The scope of this word. */
    public static Optional<Scope> of(String word) {
      for (Scope scope : values()) {
        if (scope.word().equals(word)) {
          return Optional.of(scope);
        }
      }
      return Optional.empty();
    }

    /**
     * Whether work still holds its key.
     *
     * @param started whether it runs, or has run since it was submitted
     * @param ended whether it has ended
     */
    public boolean holds(boolean started, boolean ended) {
      return !ended && (this == UNFINISHED || !started);
    }
  }
}
