package io.millrace.store;

import java.nio.file.Path;

/**
 * Adds task after task to the store of the folder given, and says on standard output what was
 * acknowledged; ends with what the store said when it took no more.
 */
final class FullDiskWriter {
  static final String ACKNOWLEDGED = "acknowledged ";
  static final String STOPPED = "stopped: ";
  static final String CLOSED = "closed";

  private FullDiskWriter() {}

  /** The folder is the only argument. */
  public static void main(String[] arguments) {
    Bytes data = Bytes.of("x".repeat(10_000));
    try (TaskStore store = TaskStore.open(StoreOptions.in(Path.of(arguments[0])))) {
      while (true) {
        Outcome.Done done =
            store.commit(Transaction.by(Owner.client(1)).add("group", data).build()).done();
        System.out.println(ACKNOWLEDGED + done.tasks().getFirst().id());
      }
    } catch (OutcomeUnknownException e) {
      System.out.println(STOPPED + e.getMessage());
    }
    System.out.println(CLOSED);
  }
}
