package io.millrace.cluster.simulation;

import io.millrace.cluster.documents.VersionedDocument;
import io.millrace.cluster.lambda.Address;
import io.millrace.cluster.partition.PartitionName;
import io.millrace.cluster.remote.dispatch.Submission;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Checks which lambdas run, which outcomes are reported, and which items are recorded as done. */
final class RemoteChecker {
  private static final String DONE = "\"state\":\"done\"";

  private final Map<PartitionName, String> addressees = new HashMap<>();
  private final Set<PartitionName> run = new HashSet<>();
  private final Set<PartitionName> notified = new HashSet<>();
  private final Set<String> done = new HashSet<>();
  private int runInVain;

  void submitted(Address address) {
    Resource.require(
        addressees.put(address.partition(), address.member()) == null,
        "two lambdas have the name " + address.partition());
  }

  void runs(PartitionName name, String member) {
    Resource.require(
        member.equals(addressees.get(name)), name + " is run by another than its addressee");
    Resource.require(run.add(name), name + " is run twice");
  }

  void notified(PartitionName name, Submission.Completion ending) {
    Resource.require(notified.add(name), "the handler of " + name + " runs twice");
    if (ending instanceof Submission.Completion.Finished) {
      Resource.require(run.contains(name), name + " has an outcome and was not run");
    } else if (run.contains(name)) {
      runInVain++;
    }
  }

  /** Checks that each item becomes done once, and stays done. */
  void written(String key, @Nullable VersionedDocument before, String json) {
    if (key.startsWith("backlog/")) {
      Resource.require(before == null || !before.json().contains(DONE), key + " was done already");
      if (json.contains(DONE)) {
        done.add(key);
      }
    }
  }

  int runInVain() {
    return runInVain;
  }

  int done() {
    return done.size();
  }

  int submissions() {
    return addressees.size();
  }

  int runs() {
    return run.size();
  }

  int notified() {
    return notified.size();
  }
}
