package io.millrace.store.kernel.decisions;

import io.millrace.store.Bytes;
import io.millrace.store.StoreOptions.Limits;
import io.millrace.store.Transaction;

/**
 * How large a transaction is.
 *
 * @param parts how many things it asks for, conditions among them
 * @param bytes the data, groups and keys that it brings
 */
public record TransactionSize(int parts, long bytes) {

  /** Adds up, without a look at what the parts are about. */
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
      bytes += add.data().size() + add.group().length();
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

  /**
   * Whether it is small enough to be checked in detail; adds a reason if it is not, or is empty.
   */
  boolean fits(Limits limits, RefusalReasons reasons) {
    if (parts == 0) {
      reasons.malformed("the transaction asks for nothing");
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
