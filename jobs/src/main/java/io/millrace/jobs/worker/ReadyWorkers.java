package io.millrace.jobs.worker;

import io.millrace.jobs.WorkerId;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;

/**
 * The workers that have room for a job, by type; first those that have been ready longest. Guarded
 * by the monitor of the {@link WorkerManager}.
 */
final class ReadyWorkers {
  private final Map<String, LinkedHashSet<WorkerSession>> ready = new HashMap<>();

  /** Those that do not wait for a job: they are answered after one look. */
  private final Set<WorkerSession> once = new HashSet<>();

  private record ReservedSlot(WorkerSession session, WorkerId worker) implements WorkerPool.Slot {}

  static WorkerSession session(WorkerPool.Slot slot) {
    return ((ReservedSlot) slot).session();
  }

  /**
   * Notes whether a worker has room now.
   *
   * @return whether it has, and had none before
   */
  boolean update(WorkerSession session) {
    if (session.room() > 0) {
      if (session.looksOnce()) {
        once.add(session);
      }
      return ready.computeIfAbsent(session.type(), _ -> new LinkedHashSet<>()).add(session);
    }
    once.remove(session);
    LinkedHashSet<WorkerSession> same = ready.get(session.type());
    if (same != null && same.remove(session) && same.isEmpty()) {
      ready.remove(session.type());
    }
    return false;
  }

  /** The types that have a ready worker. */
  Set<String> types() {
    return Set.copyOf(ready.keySet());
  }

  /** Whether a worker of this type does not wait for a job. */
  boolean needsAnswer(String type) {
    return once.stream().anyMatch(session -> session.type().equals(type));
  }

  /** Reserves slots of the workers that are wanted, and of those that do not wait for a job. */
  List<WorkerPool.Slot> reserve(String type, int most, Predicate<WorkerId> wanted) {
    List<WorkerPool.Slot> slots = new ArrayList<>();
    List<WorkerSession> chosen = new ArrayList<>();
    for (WorkerSession session : ready.getOrDefault(type, new LinkedHashSet<>())) {
      Registration registration = session.registration();
      if (registration == null || !(session.looksOnce() || wanted.test(registration.id()))) {
        continue;
      }
      chosen.add(session);
      while (session.room() > 0 && slots.size() < most) {
        session.reserve();
        slots.add(new ReservedSlot(session, registration.id()));
      }
      if (slots.size() == most) {
        break;
      }
    }
    chosen.forEach(this::update);
    return slots;
  }
}
