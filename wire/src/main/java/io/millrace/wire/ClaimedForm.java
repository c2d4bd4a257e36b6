package io.millrace.wire;

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
      long id = 0;
      long origin = 0;
      Long lease = null;
      boolean revive = false;
      in.object();
      for (String name = in.field(); name != null; name = in.field()) {
        switch (name) {
          case "id" -> id = TaskForm.id(in);
          case "origin" -> origin = TaskForm.id(in);
          case "lease" -> lease = readLease(in);
          case "revive" -> revive = in.truth();
          default -> throw in.unknown();
        }
      }
      renewals.add(new Renewal(TaskForm.ref(in, id, origin), required(in, lease), revive));
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
      long id = 0;
      long origin = 0;
      Long lease = null;
      String local = null;
      in.object();
      for (String name = in.field(); name != null; name = in.field()) {
        switch (name) {
          case "id" -> id = TaskForm.id(in);
          case "origin" -> origin = TaskForm.id(in);
          case "lease" -> lease = readLease(in);
          case "local" -> local = in.text();
          default -> throw in.unknown();
        }
      }
      takings.add(new Taking(TaskForm.ref(in, id, origin), required(in, lease), local));
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

  private static long readLease(JsonInput in) {
    return in.integer(Long.MIN_VALUE, Long.MAX_VALUE);
  }

  private static long required(JsonInput in, @Nullable Long lease) {
    if (lease == null) {
      throw in.lacking("needs a lease, in milliseconds");
    }
    return lease;
  }
}
