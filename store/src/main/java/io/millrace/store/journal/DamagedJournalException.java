package io.millrace.store.journal;

/** A part of the journal that was durable cannot be read any more. Nothing has been changed. */
public final class DamagedJournalException extends JournalException {
  private final String file;
  private final long offset;
  private final String what;

  /** An exception about the bytes of {@code file} at {@code offset}. */
  public DamagedJournalException(String file, long offset, String what) {
    super("damaged journal: " + file + " at byte " + offset + ": " + what);
    this.file = file;
    this.offset = offset;
    this.what = what;
  }

  /** The same, with a cause. */
  public DamagedJournalException(String file, long offset, String what, Throwable cause) {
    this(file, offset, what);
    initCause(cause);
  }

  /** The name of the damaged file. */
  public String file() {
    return file;
  }

  /** The offset in the file at which the damage begins, in bytes. */
  public long offset() {
    return offset;
  }

  /** What is wrong, for people. */
  public String what() {
    return what;
  }
}
