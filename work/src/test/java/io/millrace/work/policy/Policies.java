package io.millrace.work.policy;

import java.util.HashMap;
import java.util.Map;

/** Policies of tests. */
final class Policies {
  private Policies() {}

  /** A policy with these fields, each followed by its text. */
  static Policy of(String... fieldsAndTexts) {
    Map<String, String> fields = new HashMap<>();
    for (int i = 0; i < fieldsAndTexts.length; i += 2) {
      fields.put(fieldsAndTexts[i], fieldsAndTexts[i + 1]);
    }
    return new Policy(fields);
  }
}
