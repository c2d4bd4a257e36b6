package io.millrace.cluster.lambda;

import java.io.Serializable;
import java.time.Instant;
import java.util.List;
import java.util.Map;

/** A sample of the parameters that a leader passes to a lambda. */
record SampleRecord(
    String name, int number, List<String> parts, Map<String, Instant> times, Kind kind)
    implements Serializable {
  enum Kind {
    PLAIN,
    OTHER
  }
}
