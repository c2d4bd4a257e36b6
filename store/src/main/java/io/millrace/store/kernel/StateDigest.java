package io.millrace.store.kernel;

import io.millrace.store.Task;
import io.millrace.store.kernel.records.JournalRecord;
import io.millrace.store.kernel.records.RecordWriter;
import io.millrace.store.kernel.records.Records;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HexFormat;
import java.util.List;

/** Digests of states: equal for states that hold the same, wherever their tasks wait just now. */
final class StateDigest {
  private StateDigest() {}

  static String of(FrozenState state) {
    RecordWriter out = new RecordWriter();
    out.writeNumber(state.lastId());
    out.writeNumber(state.commits());
    List<Task> tasks = new ArrayList<>();
    for (Group group : state.groups()) {
      tasks.addAll(group.frozenWaiting());
      tasks.addAll(group.frozenHeld());
    }
    tasks.sort(Comparator.comparingLong(Task::id));
    tasks.forEach(task -> Records.write(out, new JournalRecord.KeptTask(task)));
    state
        .documents()
        .forEach(document -> Records.write(out, new JournalRecord.KeptDocument(document)));
    state.requests().forEach(event -> Records.write(out, new JournalRecord.KeptRequest(event)));
    return HexFormat.of().formatHex(out.sha256());
  }
}
