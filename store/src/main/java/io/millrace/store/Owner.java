package io.millrace.store;

/**
 * Who holds tasks: a client under the principal that it signed in as.
 *
 * <p>A client id is not a credential; ownership is the pair. Without authentication there is one
 * principal, {@link #ANYONE}.
 *
 * @param principal the name behind the credentials; empty without authentication
 * @param client the id that the client chose for itself, 0 to 2^53 - 1
 */
public record Owner(String principal, long client) {
  /** The one principal of a store without authentication. */
  public static final String ANYONE = "";

  /** A client of a store without authentication. */
  public static Owner client(long client) {
    return new Owner(ANYONE, client);
  }
}
