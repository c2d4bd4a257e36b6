package io.millrace.queues.search;

import io.millrace.queues.Status;
import io.millrace.queues.TaskIndex.TaskKind;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;

/** How much of a kind of tasks can satisfy what a filter asks of the status. */
enum Cover {
  /** Nothing. */
  NONE,
  /** Some status codes and not others. */
  PART,
  /** Everything. */
  ALL;

  /**
   * For each kind. Conditions only compare with constants, so they change nowhere but at those: it
   * is enough to try each constant with its neighbours, and the ends of each kind.
   */
  static Map<TaskKind, Cover> of(List<Condition> conditions) {
    TreeSet<Integer> samples = new TreeSet<>(List.of(Integer.MIN_VALUE, Integer.MAX_VALUE));
    for (int status = Status.TERMINATED; status <= Status.SUCCEEDED; status++) {
      samples.add(status);
    }
    for (Condition condition : conditions) {
      condition.constants(constant -> addAround(samples, constant));
    }
    Map<TaskKind, Cover> covers = new EnumMap<>(TaskKind.class);
    for (int status : samples) {
      List<JsonNode> value = List.of(JsonNodeFactory.instance.numberNode(status));
      boolean satisfied = conditions.stream().allMatch(condition -> condition.test(value));
      Cover cover = satisfied ? ALL : NONE;
      covers.merge(TaskKind.of(status), cover, (old, next) -> old == next ? old : PART);
    }
    return covers;
  }

  private static void addAround(Set<Integer> samples, JsonNode constant) {
    if (!constant.isNumber()) {
      return;
    }
    double number = ValueOrder.approximate(constant);
    if (Math.abs(number) > Integer.MAX_VALUE - 2) {
      return;
    }
    int floor = (int) Math.floor(number);
    for (int status = floor - 1; status <= floor + 2; status++) {
      samples.add(status);
    }
  }
}
