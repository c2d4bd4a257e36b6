package io.millrace.queues;

import io.millrace.store.ClaimOrder;
import java.util.Locale;
import java.util.Optional;

/** In which order the waiting tasks of a queue are run, by their ids. */
public enum Sort {
  /** The oldest first. */
  FIFO,
  /** The newest first. */
  LIFO,
  /** The oldest first, said by default. */
  DEFAULT;

  /** The word for it: {@code fifo}, {@code lifo} or {@code default}. */
  public String word() {
    return name().toLowerCase(Locale.ROOT);
  }

  /** What {@link #word()} gave; empty for another word. */
  public static Optional<Sort> of(String word) {
    for (Sort sort : values()) {
      if (sort.word().equals(word)) {
        return Optional.of(sort);
      }
    }
    return Optional.empty();
  }

  ClaimOrder claimOrder() {
    return this == LIFO ? ClaimOrder.NEWEST : ClaimOrder.OLDEST;
  }
}
