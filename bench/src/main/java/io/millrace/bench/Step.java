package io.millrace.bench;

/** What a lifecycle is made of. */
enum Step {
  /** A task is added. */
  ADD,
  /** A task is claimed. */
  CLAIM,
  /** The claimed one is deleted. */
  DELETE;

  /** What follows, the first after the last. */
  Step next() {
    return switch (this) {
      case ADD -> CLAIM;
      case CLAIM -> DELETE;
      case DELETE -> ADD;
    };
  }
}
