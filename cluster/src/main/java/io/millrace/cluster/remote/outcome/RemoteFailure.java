package io.millrace.cluster.remote.outcome;

/**
 * How a lambda failed on the member that ran it.
 *
 * @param type the name of the class of what it threw
 * @param message what that said, cut to 2,000 characters; empty where it said nothing
 * @param trace where it was thrown, as Java prints it, cut to 16,000 characters
 */
public record RemoteFailure(String type, String message, String trace) {}
