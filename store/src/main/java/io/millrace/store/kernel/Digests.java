package io.millrace.store.kernel;

import io.millrace.store.Bytes;
import io.millrace.store.Claim;
import io.millrace.store.Command;
import io.millrace.store.Transaction;
import java.nio.ByteBuffer;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;

/** Digests of what commands ask for, so that a repeated request can be told from a changed one. */
final class Digests {
  private Digests() {}

  static RequestMark mark(Command command, String requestId) {
    RecordWriter writer = new RecordWriter();
    switch (command) {
      case Transaction transaction -> write(writer, transaction);
      case Claim claim -> write(writer, claim);
    }
    ByteBuffer digest = ByteBuffer.wrap(sha256(writer.view()));
    return new RequestMark(requestId, digest.getLong(), digest.getLong());
  }

  /** The SHA-256 of what remains in {@code content}. */
  static byte[] sha256(ByteBuffer content) {
    try {
      MessageDigest digest = MessageDigest.getInstance("SHA-256");
      digest.update(content);
      return digest.digest();
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every Java has SHA-256", e);
    }
  }

  /** Every part in order, each list with its length, so that no two contents look the same. */
  private static void write(RecordWriter writer, Transaction transaction) {
    writer.writeByte(1);
    writer.writeText(transaction.toString());
    transaction.adds().forEach(add -> writer.writeBytes(add.data()));
    transaction
        .updates()
        .forEach(update -> writer.writeBytes(update.data() == null ? Bytes.EMPTY : update.data()));
    transaction.puts().forEach(put -> writer.writeBytes(put.body()));
  }

  private static void write(RecordWriter writer, Claim claim) {
    writer.writeByte(2);
    writer.writeText(claim.toString());
  }
}
