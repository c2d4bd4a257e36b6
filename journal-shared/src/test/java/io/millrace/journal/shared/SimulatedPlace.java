package io.millrace.journal.shared;

import io.millrace.journal.shared.Head.Row;
import io.millrace.journal.shared.SimulatedWorld.Machine;
import java.util.List;

/** A place for a journal in a simulated world. */
interface SimulatedPlace {
  /** What is between it and the machines. */
  SimulatedNetwork network();

  JournalHome connect(Machine machine);

  long journalId();

  /** All frames that were ever committed, in order. */
  List<Row> appended();

  /** One that has every frame that was ever committed, and no snapshot. */
  SimulatedPlace unabridged();
}
