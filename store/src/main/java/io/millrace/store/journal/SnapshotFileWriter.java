package io.millrace.store.journal;

import java.io.IOException;
import java.nio.ByteBuffer;

/** Writes a snapshot file under a temporary name and gives it its own when it is whole. */
final class SnapshotFileWriter implements Journal.SnapshotWriter {
  private final Storage storage;
  private final String name;
  private final String temporary;
  private final DiskFileOutput file;
  private final SnapshotOutput output;

  SnapshotFileWriter(Storage storage, Frame frame, boolean standsAlone) {
    this.storage = storage;
    name = FileNames.snapshot(frame.sequence());
    temporary = name + FileNames.TEMPORARY;
    try {
      storage.discard(temporary);
      file = new DiskFileOutput(storage.open(temporary));
      output = new SnapshotOutput(file, frame, standsAlone);
    } catch (IOException e) {
      throw failed(e);
    }
  }

  @Override
  public void part(ByteBuffer payload) {
    try {
      output.part(payload);
    } catch (IOException e) {
      throw failed(e);
    }
  }

  @Override
  public void publish() {
    try {
      output.finish();
      file.sync();
      file.close();
      storage.publish(temporary, name);
    } catch (IOException e) {
      throw failed(e);
    }
  }

  @Override
  public void abandon() {
    try {
      file.close();
      storage.discard(temporary);
    } catch (IOException e) {
      throw failed(e);
    }
  }

  private JournalException failed(IOException cause) {
    return new JournalException(
        "cannot write " + temporary + " in " + storage.describe() + ": " + cause.getMessage(),
        cause);
  }
}
