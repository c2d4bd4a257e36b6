package io.millrace.store;

/**
 * The owner of tasks: a client id, together with the principal that the client is authenticated as.
 *
 * <p>A client id is not a credential, so two clients with the same id and different principals are
 * different owners. Without authentication there is one principal, {@link #ANYONE}.
 *
 * @param principal the name of the authenticated user; empty without authentication
 * @param client the id that the client has chosen, 0 to 2^53 - 1
 */
public record Owner(String principal, long client) {
  /** The only principal of a store without authentication. */
  public static final String ANYONE = "";

  /** A client of a store without authentication. */
  public static Owner client(long client) {
    return new Owner(ANYONE, client);
  }
}
