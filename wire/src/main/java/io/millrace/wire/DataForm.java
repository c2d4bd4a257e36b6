package io.millrace.wire;

/** How an answer shows the bytes that users put into tasks and documents. */
public enum DataForm {
  /** As a string ({@code data}, {@code body}) if they are UTF-8, otherwise as base64. */
  TEXT,
  /** Always as base64 ({@code data64}, {@code body64}). */
  BASE64
}
