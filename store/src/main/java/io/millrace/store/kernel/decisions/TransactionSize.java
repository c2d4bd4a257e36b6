package io.millrace.store.kernel.decisions;

import io.millrace.store.Bytes;
import io.millrace.store.StoreOptions.Limits;
import io.millrace.store.Task;
import io.millrace.store.Transaction;

/**
 * The size of a transaction.
 *
 * @param parts the number of its changes and conditions
 * @param bytes the size of its data, groups and keys
 */
public record TransactionSize(int parts, long bytes) {

  /** Computes the size. */
  public static TransactionSize of(Transaction transaction) {
    int parts =
        transaction.adds().size()
            + transaction.updates().size()
            + transaction.renewals().size()
            + transaction.takings().size()
            + transaction.deletes().size()
            + transaction.puts().size()
            + transaction.documentDeletes().size()
            + transaction.depends().size()
            + transaction.documentDepends().size();
    long bytes = 0;
    for (Transaction.Add add : transaction.adds()) {
      Task.Lane lane = add.lane();
      bytes += add.data().size() + add.group().length() + (lane == null ? 0 : lane.key().length());
    }
    for (Transaction.Update update : transaction.updates()) {
      Bytes data = update.data();
      bytes += data == null ? 0 : data.size();
    }
    for (Transaction.Put put : transaction.puts()) {
      bytes += put.body().size() + put.key().key().length();
    }
    return new TransactionSize(parts, bytes);
  }

  /** Whether it is within the limits; adds a reason if it is not, or if it is empty. */
  boolean fits(Limits limits, RefusalReasons reasons) {
    if (parts == 0) {
      reasons.malformed("the transaction is empty");
    }
    if (parts > limits.operations()) {
      reasons.tooLarge("the transaction has " + parts + " parts, more than " + limits.operations());
      return false;
    }
    if (bytes > limits.transactionBytes()) {
      reasons.tooLarge(
          "the transaction has " + bytes + " bytes, more than " + limits.transactionBytes());
      return false;
    }
    return true;
  }
}
