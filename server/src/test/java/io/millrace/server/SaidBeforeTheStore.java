package io.millrace.server;

import java.util.Set;
import org.junit.jupiter.api.extension.ConditionEvaluationResult;
import org.junit.jupiter.api.extension.ExecutionCondition;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * Leaves out the promises about malformed commands that JSON cannot express: the client or the
 * server's reader rejects them before a store could refuse them, or a negative client id has a
 * meaning on the wire. {@code StoreApiTest} shows what is answered instead.
 */
public final class SaidBeforeTheStore implements ExecutionCondition {
  private static final Set<String> NOT_EXPRESSIBLE =
      Set.of(
          "a_version_below_any_is_malformed",
          "everything_malformed_is_named_at_once_and_nothing_else",
          "negative_durations_are_malformed",
          "text_that_is_no_unicode_is_malformed",
          "a_client_id_outside_of_its_range_is_malformed");

  @Override
  public ConditionEvaluationResult evaluateExecutionCondition(ExtensionContext context) {
    String test = context.getTestMethod().map(method -> method.getName()).orElse("");
    return NOT_EXPRESSIBLE.contains(test)
        ? ConditionEvaluationResult.disabled("the wire cannot express it")
        : ConditionEvaluationResult.enabled("the wire can express it");
  }
}
