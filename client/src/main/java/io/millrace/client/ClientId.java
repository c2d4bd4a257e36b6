package io.millrace.client;

import io.millrace.store.Owner;
import java.security.SecureRandom;

/**
 * The random client id of this process, which distinguishes its tasks from those of other
 * processes.
 */
public final class ClientId {
  private static final long OF_THIS_PROCESS = 1L + new SecureRandom().nextInt(Integer.MAX_VALUE);

  private ClientId() {}

  /** The id of this process, from 1 to 2^31 - 1. It is chosen once, when this class is loaded. */
  public static long ofThisProcess() {
    return OF_THIS_PROCESS;
  }

  /** This process as an owner of tasks. A server adds the principal of the credentials. */
  public static Owner owner() {
    return Owner.client(OF_THIS_PROCESS);
  }
}
