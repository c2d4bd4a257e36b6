package io.millrace.http.message;

import org.jspecify.annotations.Nullable;

/** The request methods that routes can be made for. */
public enum HttpMethod {
  /** Reads; a route for it answers HEAD as well. */
  GET,
  /** Reads what GET would, without the body. */
  HEAD,
  /** Asks which methods there are; answered without a route. */
  OPTIONS,
  /** Asks for something to be done. */
  POST,
  /** Puts something at the path. */
  PUT,
  /** Changes a part of what is at the path. */
  PATCH,
  /** Removes what is at the path. */
  DELETE;

  /** The method of this exact name, or null. */
  public static @Nullable HttpMethod named(String name) {
    return switch (name) {
      case "GET" -> GET;
      case "HEAD" -> HEAD;
      case "OPTIONS" -> OPTIONS;
      case "POST" -> POST;
      case "PUT" -> PUT;
      case "PATCH" -> PATCH;
      case "DELETE" -> DELETE;
      default -> null;
    };
  }
}
