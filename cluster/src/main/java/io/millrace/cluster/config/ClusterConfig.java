package io.millrace.cluster.config;

import io.millrace.cluster.lock.LeaseTerms;
import java.util.Map;
import java.util.TreeMap;

/**
 * What all members of a cluster go by.
 *
 * @param terms how long locks are held
 * @param plan what the members are there for, as named values; empty for nothing. The member that
 *     reads it knows which names it understands
 */
public record ClusterConfig(LeaseTerms terms, Map<String, String> plan) {
  /** Copies the plan. */
  public ClusterConfig {
    plan = Map.copyOf(plan);
  }

  @Override
  public String toString() {
    return "lease %d ms, margin %d ms, plan %s"
        .formatted(terms.lease().toMillis(), terms.margin().toMillis(), new TreeMap<>(plan));
  }
}
