import { Component, type ReactNode } from 'react';

type Props = {
  /** What to show in place of what could not be drawn. */
  instead: ReactNode;
  /** Identifies what is drawn: something else is tried again. */
  of: string;
  children: ReactNode;
};

/** Keeps what can't be drawn from taking the whole page with it. */
export class Boundary extends Component<Props, { hasFailed: boolean }> {
  override state = { hasFailed: false };

  static getDerivedStateFromError() {
    return { hasFailed: true };
  }

  override componentDidUpdate({ of }: Props): void {
    if (of !== this.props.of && this.state.hasFailed) {
      this.setState({ hasFailed: false });
    }
  }

  override render(): ReactNode {
    return this.state.hasFailed ? this.props.instead : this.props.children;
  }
}
