package io.millrace.store.kernel.decisions;

import io.millrace.store.Commit.Change;
import io.millrace.store.Outcome.Reason;
import io.millrace.store.kernel.records.Event;
import io.millrace.store.kernel.records.RequestDigest;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** What the store makes of a command. */
public sealed interface Decision {
  /** It takes effect as these changes, which are not empty; the state grows by so many bytes. */
  record Accepted(List<Change> changes, @Nullable RequestDigest request, long growthBytes)
      implements Decision {}

  /** A claim that found nothing to take. */
  record Nothing() implements Decision {}

  /** It took effect before, under the same request id. */
  record Repeated(Event event) implements Decision {}

  /** It is refused. */
  record Refused(List<Reason> reasons) implements Decision {}
}
