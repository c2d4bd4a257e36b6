package io.millrace.wire;

import io.millrace.store.TaskRef;
import io.millrace.store.Transaction.Renewal;
import io.millrace.store.Transaction.Taking;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JsonGenerator;

/** The parts of a transaction that are about claims: those to prolong, and tasks to take. */
final class ClaimedForm {
  private ClaimedForm() {}

  static List<Renewal> readRenewals(JsonInput in) {
    List<Renewal> renewals = new ArrayList<>();
    in.array();
    while (in.element()) {
      ClaimedTask task = new ClaimedTask();
      boolean revive = false;
      in.object();
      for (String name = in.field(); name != null; name = in.field()) {
        if (name.equals("revive")) {
          revive = in.truth();
        } else {
          task.read(in, name);
        }
      }
      renewals.add(new Renewal(task.ref(), task.leaseMillis(in), revive));
    }
    return renewals;
  }

  static void writeRenewals(JsonGenerator json, List<Renewal> renewals) {
    if (renewals.isEmpty()) {
      return;
    }
    json.writeArrayPropertyStart("renewals");
    for (Renewal renewal : renewals) {
      json.writeStartObject();
      TaskForm.writeRefFields(json, renewal.task());
      json.writeNumberProperty("lease", renewal.leaseMillis());
      if (renewal.revive()) {
        json.writeBooleanProperty("revive", true);
      }
      json.writeEndObject();
    }
    json.writeEndArray();
  }

  static List<Taking> readTakings(JsonInput in) {
    List<Taking> takings = new ArrayList<>();
    in.array();
    while (in.element()) {
      ClaimedTask task = new ClaimedTask();
      String local = null;
      in.object();
      for (String name = in.field(); name != null; name = in.field()) {
        if (name.equals("local")) {
          local = in.text();
        } else {
          task.read(in, name);
        }
      }
      takings.add(new Taking(task.ref(), task.leaseMillis(in), local));
    }
    return takings;
  }

  static void writeTakings(JsonGenerator json, List<Taking> takings) {
    if (takings.isEmpty()) {
      return;
    }
    json.writeArrayPropertyStart("takings");
    for (Taking taking : takings) {
      json.writeStartObject();
      TaskForm.writeRefFields(json, taking.task());
      json.writeNumberProperty("lease", taking.leaseMillis());
      if (taking.localName() != null) {
        json.writeStringProperty("local", taking.localName());
      }
      json.writeEndObject();
    }
    json.writeEndArray();
  }

  /** What both have, read field by field: which task, and for how long. */
  private static final class ClaimedTask {
    private long id;
    private long origin;
    private @Nullable Long lease;

    void read(JsonInput in, String name) {
      switch (name) {
        case "id" -> id = TaskForm.id(in);
        case "origin" -> origin = TaskForm.id(in);
        case "lease" -> lease = in.integer(Long.MIN_VALUE, Long.MAX_VALUE);
        default -> throw in.unknown();
      }
    }

    TaskRef ref() {
      return new TaskRef(id, origin);
    }

    long leaseMillis(JsonInput in) {
      if (lease == null) {
        throw in.lacking("needs a lease, in milliseconds");
      }
      return lease;
    }
  }
}
